import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '../../src/model/json.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { MainSide } from '../support/worker-main-side.ts';

let main: MainSide;
afterEach(() => main.close());

const asyncCity = z.object({ city: z.string().min(2).default('Lisbon') }).refine(async () => true);

async function endOf(run: () => unknown, input: Json = {}) {
  main = new MainSide([defineAgent({ name: 'agent', input: asyncCity, run })]);
  main.start('agent', { input });
  await main.next('ready');
  return (await main.next('end')).ending;
}

function nested(depth: number): Json {
  return depth === 0 ? 1 : [nested(depth - 1)];
}

describe('a task', () => {
  test('ends with what its agent returns', async () => {
    expect(await endOf(() => ({ done: true }))).toEqual({ status: 'completed', output: { done: true } });
  });

  test('ends with null when its agent returns nothing', async () => {
    expect(await endOf(() => undefined)).toEqual({ status: 'completed', output: null });
  });

  test('ends after everything that its agent called before', async () => {
    let ran = false;
    main = new MainSide([
      defineAgent({
        name: 'agent',
        async run(task) {
          void task.step('background', () => {
            ran = true;
          });
          void task.emit('my.event');
        },
      }),
    ]);
    main.start('agent');
    await main.next('ready');

    await main.next('startStep');
    await main.next('append');
    await main.next('end');
    await main.settle();

    expect(main.unread).toEqual([]);
    expect(ran).toBe(false);
  });

  test.each([
    ['an error', new Error('no seats'), 'no seats'],
    ['an error without a message', new RangeError(), 'RangeError'],
    ['a string', 'no seats', 'no seats'],
    ['undefined', undefined, 'undefined'],
    ['an object', { seats: 0 }, '{ seats: 0 }'],
    ['an error that cannot be cloned', Object.assign(new Error('odd'), { fn() {}, self: globalThis }), 'odd'],
    [
      'an error that throws when it is read',
      Object.defineProperty(new Error('x'), 'message', {
        get() {
          throw new Error('y');
        },
      }),
      'Something was thrown that cannot be described.',
    ],
  ])('fails with the message of what was thrown: %s', async (_, thrown, message) => {
    expect(await endOf(() => Promise.reject(thrown))).toEqual({
      status: 'failed',
      error: { code: 'agent_error', message },
      cut: null,
    });
  });

  test('cuts a message at 1 KiB', async () => {
    expect(await endOf(() => Promise.reject(new Error('é'.repeat(600))))).toEqual({
      status: 'failed',
      error: { code: 'agent_error', message: 'é'.repeat(512), truncated: true },
      cut: null,
    });
  });

  test.each([
    ['not JSON', () => ({ at: 1n })],
    [
      'a circle',
      () => {
        const circle: { self?: unknown } = {};
        circle.self = circle;
        return circle;
      },
    ],
    ['over 1 MiB', () => 'x'.repeat(1024 * 1024)],
    ['nested too deeply', () => nested(33)],
  ])('fails when its output is %s', async (_, run) => {
    expect(await endOf(run)).toMatchObject({ status: 'failed', error: { code: 'invalid_output' } });
  });

  test('may return what nests 32 deep', async () => {
    expect(await endOf(() => nested(32))).toMatchObject({ status: 'completed' });
  });

  test('fails without running when its input is wrong', async () => {
    let ran = false;
    const ending = await endOf(
      () => {
        ran = true;
      },
      { city: 'L' },
    );

    expect(ending).toMatchObject({ status: 'failed', error: { code: 'invalid_input' } });
    expect(ending.status === 'failed' && ending.error.message).toMatch(/^\/city: /);
    expect(ran).toBe(false);
  });

  test('fails when nobody has its agent', async () => {
    main = new MainSide([]);
    main.start('nobody');
    await main.next('ready');

    expect(await main.next('end')).toMatchObject({
      ending: { status: 'failed', error: { code: 'unknown_agent', message: 'No agent is named "nobody".' } },
    });
  });
});

describe('validation', () => {
  test('names what is wrong by JSON Pointers, and says null when nothing is', async () => {
    main = new MainSide([defineAgent({ name: 'agent', input: asyncCity, run: () => {} })]);
    await main.next('ready');
    main.send({ kind: 'validate', id: 1, agent: 'agent', input: { city: 1 } });
    expect(await main.next('validated')).toMatchObject({ id: 1, issues: [{ path: '/city' }] });

    main.send({ kind: 'validate', id: 2, agent: 'agent', input: {} });

    expect(await main.next('validated')).toEqual({ kind: 'validated', id: 2, issues: null });
  });

  test('refuses an input whose schema throws', async () => {
    const input = z.unknown().refine(() => {
      throw new Error('broken');
    });
    main = new MainSide([defineAgent({ name: 'agent', input, run: () => {} })]);
    await main.next('ready');

    main.send({ kind: 'validate', id: 1, agent: 'agent', input: 1 });

    expect(await main.next('validated')).toMatchObject({
      issues: [{ path: '', message: 'The schema failed: broken' }],
    });
  });
});
