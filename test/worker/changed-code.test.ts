import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { TaskHandle } from '../../src/model/agent.ts';
import { defer } from '../../src/worker/deferred.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import type { Report } from '../../src/worker/protocol.ts';
import { MainSide, QUESTION } from '../support/worker-main-side.ts';

type Code = (task: TaskHandle) => unknown;

const STUCK_AFTER_MS = 60_000;

let main: MainSide;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  main.close();
  vi.useRealTimers();
});

/** Lets so much time go by for a copy that has done all it could. */
async function pass(ms: number): Promise<void> {
  await main.settle();
  vi.advanceTimersByTime(ms);
  await main.settle();
}

/** Runs the code `before` until it waits at its end, and then another in its place. */
async function change(before: Code, after: Code, stuckAfterMs?: number): Promise<void> {
  let code = before;
  main = new MainSide([defineAgent({ name: 'agent', run: (task) => code(task) })], stuckAfterMs);
  main.start('agent');
  await main.next('ready');
  for (let report = await main.any(); report.kind !== 'wait'; report = await main.any()) commit(report);
  code = after;
  await main.replay();
}

function commit(report: Report): void {
  if ('n' in report) main.ack(report);
}

let bodies = 0;
const body = () => ++bodies;

const BEFORE: Code = async (task) => {
  await task.step('a', () => 1);
  await task.emit('my.event');
  await task.step('b', () => 1);
  await task.ask('q', QUESTION);
};

const b = 'The journal has the step "b" next, but the code has not come to that again';

describe('code that has changed', () => {
  test.each<[string, Code, string]>([
    [
      'that asks for another kind under a key',
      async (task) => {
        await task.ask('a', QUESTION);
      },
      'The journal has the step "a", but the code asks for the question "a".',
    ],
    [
      'that has renamed a step',
      async (task) => {
        await task.step('a', body);
        await task.emit('my.event');
        await task.step('new', body);
      },
      `${b}: it came to the step "new" instead.`,
    ],
    [
      'that has a new question before',
      async (task) => {
        await task.step('a', body);
        await task.emit('my.event');
        await task.ask('new', QUESTION);
        await task.step('b', body);
      },
      `${b}: it came to the question "new" instead.`,
    ],
    [
      'that no longer has an event',
      async (task) => {
        await task.step('a', body);
        await task.step('b', body);
        await task.ask('q', QUESTION);
      },
      'The journal has its event number 1 next, but the code has not come to that again: it does nothing instead.',
    ],
    [
      'that emits less and does not end',
      async (task) => {
        await task.step('a', body);
        void task.step('b', body);
        await task.ask('q', QUESTION);
      },
      'The journal has its event number 1 next, but the code has not come to that again: it does nothing instead.',
    ],
    [
      'that ends before',
      async (task) => {
        await task.step('a', body);
        await task.emit('my.event');
        return 1;
      },
      `${b}: it has ended instead.`,
    ],
    [
      'that does nothing any more',
      () => new Promise(() => {}),
      'The journal has the step "a" next, but the code has not come to that again: it does nothing instead.',
    ],
  ])('%s fails its task, and nothing of it was run or reported', async (_, after, message) => {
    bodies = 0;
    await change(BEFORE, after);
    await pass(STUCK_AFTER_MS * 1.5);

    expect(await main.next('end')).toMatchObject({
      n: 1,
      ending: { status: 'failed', error: { code: 'nondeterministic', message }, cut: null },
    });
    expect(bodies).toBe(0);
  });

  test('is found out at once when it asks for another kind, else after a minute', async () => {
    await change(BEFORE, (task) => task.step('new', body));
    await pass(STUCK_AFTER_MS);
    expect(main.unread).toEqual([]);
    await pass(STUCK_AFTER_MS / 2);
    await main.next('end');

    await change(BEFORE, (task) => task.sleep('a', 1));
    await main.next('end');
  });

  test('is found out when a limit of another length is over', async () => {
    await change(BEFORE, (task) => task.step('new', body), 1000);
    await pass(1500);

    await main.next('end');
  });

  test('is dead from then on, and what it does is aborted', async () => {
    const acted: string[] = [];
    await change(BEFORE, async (task) => {
      task.signal.addEventListener('abort', () => acted.push('abort'));
      await task.ask('a', QUESTION).finally(() => acted.push('finally'));
    });

    await main.commit('end');
    await main.settle();

    expect(acted).toEqual(['abort']);
    expect(main.unread).toEqual([]);
  });

  test('goes on where it has changed only behind what has happened', async () => {
    await change(BEFORE, async (task) => {
      await task.step('a', () => 1);
      await task.emit('my.event');
      await task.step('b', () => 1);
      await task.ask('q', QUESTION);
      await task.step('new', () => 1);
    });
    expect(await main.next('wait')).toMatchObject({ n: 1, keys: ['q'] });
  });

  test('is not taken for changed as long as it makes headway, however slowly', async () => {
    let raw = defer<void>();
    const values: number[] = [];
    const slowly = async (task: TaskHandle) => {
      for (let i = 0; i < 3; i++) {
        await raw.promise;
        values.push(await task.step('s', () => i));
      }
      await task.ask('q', QUESTION);
    };
    raw.resolve();
    await change(slowly, slowly);
    for (let i = 0; i < 3; i++) {
      raw = defer();
      await pass(STUCK_AFTER_MS * 0.8);
      raw.resolve();
    }

    await main.next('wait');

    expect(values.slice(3)).toEqual([0, 1, 2]);
  });

  test('is not convicted while the store has not answered it', async () => {
    const code = async (task: TaskHandle) => {
      await task.emit('my.event');
      await task.step('a', () => 1);
      await task.ask('q', QUESTION);
    };
    main = new MainSide([defineAgent({ name: 'agent', run: code })]);
    const resolved = { status: 'done', value: '1', ord: 1, emitsDone: 1, at: 1 } as const;
    main.start('agent', { rows: [{ key: 'a', kind: 'step', askedAt: 1, tries: 1, once: false, ...resolved }] });
    await main.next('ready');
    const append = await main.next('append');
    await pass(STUCK_AFTER_MS * 3);
    expect(main.unread).toEqual([]);

    main.ack(append);

    expect(await main.next('ask')).toMatchObject({ key: 'q' });
  });

  test('is not looked for once all has come again, however long the code takes', async () => {
    const raw = defer<void>();
    const code = async (task: TaskHandle) => {
      await task.step('a', () => 1);
      await raw.promise;
      await task.ask('q', QUESTION);
    };
    main = new MainSide([defineAgent({ name: 'agent', run: code })]);
    main.start('agent');
    await main.next('ready');
    await main.step('a');
    await main.replay();
    await pass(STUCK_AFTER_MS * 3);

    raw.resolve();

    await main.commit('ask');
    expect(vi.getTimerCount()).toBe(0);
  });
});
