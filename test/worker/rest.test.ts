import { afterEach, describe, expect, test } from 'vitest';
import type { TaskHandle } from '../../src/model/agent.ts';
import { defer } from '../../src/worker/deferred.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { answered, MainSide, QUESTION, slept } from '../support/worker-main-side.ts';

let main: MainSide;
afterEach(() => main.close());

/** Starts an agent; `raw` is a promise that is none of the handle's, settled by the test. */
async function run(code: (task: TaskHandle, raw: Promise<void>) => Promise<unknown>) {
  const raw = defer<void>();
  main = new MainSide([defineAgent({ name: 'agent', run: (task) => code(task, raw.promise) })]);
  main.start('agent');
  await main.next('ready');
  return raw;
}

describe('a copy at rest', () => {
  test('waits for the keys that only somebody else can resolve', async () => {
    await run(async (task) => Promise.all([task.ask('q', QUESTION), task.sleep('z', 1), task.ask('q', QUESTION)]));
    await main.commit('ask');
    await main.commit('sleep');
    await main.settle();
    expect(main.unread).toMatchObject([{ kind: 'ask', key: 'q#2' }]);

    await main.commit('ask');

    expect(await main.next('wait')).toMatchObject({ n: 4, fence: 1, keys: ['q', 'z', 'q#2'] });
  });

  test('does not wait while a step runs', async () => {
    const step = defer<void>();
    await run(async (task) => Promise.all([task.ask('q', QUESTION), task.step('s', () => step.promise)]));
    await main.commit('ask');
    await main.commit('startStep');
    await main.settle();
    expect(main.unread).toEqual([]);

    step.resolve();
    await main.commit('settleStep');

    expect(await main.next('wait')).toMatchObject({ keys: ['q'] });
  });

  test('does not wait with something left to deliver', async () => {
    const order: string[] = [];
    await run(async (task) => {
      await Promise.all([
        task.ask('q', QUESTION),
        ...[1, 2, 3].map((i) => task.emit('my.event').then(() => order.push(`emit ${i}`))),
        task.step('s', () => {}).then(() => task.emit('my.last')),
      ]);
    });
    await main.commit('ask');
    await main.commit('append');
    await main.commit('startStep');
    await main.commit('settleStep');
    await main.commit('append');

    await main.next('wait');

    expect(order).toEqual(['emit 1', 'emit 2', 'emit 3']);
  });

  test('reports nothing when it waits for nothing that anybody could resolve', async () => {
    const raw = await run(async (task, raw) => {
      await task.emit('my.event');
      await raw;
    });
    await main.commit('append');
    await main.settle();
    expect(main.unread).toEqual([]);

    raw.resolve();

    await main.next('end');
  });

  test('waits again when what came was for nobody', async () => {
    await run(async (task) => {
      await Promise.race([task.ask('q', QUESTION), task.sleep('z', 1)]);
      await task.ask('q2', QUESTION);
    });
    await main.commit('ask');
    await main.commit('sleep');
    main.waited(await main.next('wait'), 'waiting');
    main.adopt(2, slept('z'));
    await main.commit('ask');
    main.waited(await main.next('wait'), 'waiting');

    main.adopt(3, answered('q'));

    expect(await main.next('wait')).toMatchObject({ fence: 3, keys: ['q2'] });
  });
});

describe('a copy that waits', () => {
  test('goes on with the next claim, and tells its fence', async () => {
    let reply: unknown;
    await run(async (task) => {
      reply = await task.ask('q', QUESTION);
      await task.emit('my.event');
    });
    await main.commit('ask');
    main.waited(await main.next('wait'), 'waiting');

    main.adopt(2, answered('q', 'june'));

    expect(await main.next('append')).toMatchObject({ fence: 2, n: 3 });
    expect(reply).toEqual({ status: 'answered', answers: { a: 'june' }, resolvedBy: 'local' });
  });

  test.each([3, 2 + 5, 1])('is dropped when it is given fence %i after fence 1', async (fence) => {
    let went = false;
    await run(async (task) => {
      await task.ask('q', QUESTION);
      went = true;
    });
    await main.commit('ask');
    main.waited(await main.next('wait'), 'waiting');

    main.adopt(fence, answered('q'));
    await main.settle();
    main.adopt(2, answered('q'));
    await main.settle();

    expect(went).toBe(false);
    expect(main.unread).toEqual([]);
  });

  test('asks for a claim once when raw code calls, and reports under the new fence', async () => {
    const raw = await run(async (task, raw) => {
      void task.ask('q', QUESTION);
      await raw;
      await Promise.all([task.emit('my.a'), task.emit('my.b'), task.sleep('z', 1)]);
    });
    await main.commit('ask');
    main.waited(await main.next('wait'), 'waiting');

    raw.resolve();

    expect(await main.next('wake')).toEqual({ kind: 'wake', taskId: 'task_1', fence: 1 });
    await main.settle();
    expect(main.unread).toEqual([]);
    main.adopt(2);
    expect(await main.next('append')).toMatchObject({ fence: 2, n: 3, events: [{ type: 'my.a' }, { type: 'my.b' }] });
    expect(await main.next('sleep')).toMatchObject({ fence: 2, n: 4 });
  });

  test('asks for a claim to end', async () => {
    const raw = await run(async (task, raw) => {
      void task.ask('q', QUESTION);
      await raw;
      return 'done';
    });
    await main.commit('ask');
    main.waited(await main.next('wait'), 'waiting');

    raw.resolve();
    await main.next('wake');
    main.adopt(2);

    expect(await main.next('end')).toMatchObject({ fence: 2, ending: { status: 'completed', output: 'done' } });
  });

  test('goes on once when its call for a claim crosses one', async () => {
    const order: string[] = [];
    const raw = await run(async (task, raw) => {
      await Promise.race([task.ask('q', QUESTION).then(() => order.push('answer')), raw.then(() => order.push('raw'))]);
      await task.step('x', () => order.push('body'));
    });
    await main.commit('ask');
    main.waited(await main.next('wait'), 'waiting');

    raw.resolve();
    main.adopt(2, answered('q'));
    await main.next('wake');
    const start = await main.next('startStep');
    main.ack(start);

    expect(start).toMatchObject({ fence: 2, step: { name: 'x', attempt: 1 } });
    await main.commit('settleStep');
    await main.next('end');
    expect(order.toSorted()).toEqual(['answer', 'body', 'raw']);
  });

  test('delivers nothing before it is claimed', async () => {
    let settled = false;
    const raw = await run(async (task, raw) => {
      void task.ask('q', QUESTION);
      await raw;
      await task.ask('q2', { ...QUESTION, signal: AbortSignal.abort() });
      settled = true;
    });
    await main.commit('ask');
    main.waited(await main.next('wait'), 'waiting');
    raw.resolve();
    await main.next('wake');
    await main.settle();
    expect(settled).toBe(false);

    main.adopt(2);
    await main.commit('withdraw');
    await main.next('end');

    expect(settled).toBe(true);
  });
});

describe('while a wait is unanswered', () => {
  test('nothing is delivered and calls queue', async () => {
    const seen: string[] = [];
    const raw = await run(async (task, raw) => {
      const calling = raw.then(() => task.emit('my.event'));
      seen.push((await task.ask('q', QUESTION)).status);
      await calling;
    });
    await main.commit('ask');
    const wait = await main.next('wait');
    main.resolve(1, answered('q'));
    raw.resolve();
    await main.settle();
    expect(seen).toEqual([]);
    expect(main.unread).toEqual([]);

    main.waited(wait, 'already');
    await main.commit('append');
    await main.next('end');

    expect(seen).toEqual(['answered']);
  });

  test('an answer that comes after `already` is delivered', async () => {
    await run(async (task) => task.ask('q', QUESTION));
    await main.commit('ask');

    main.waited(await main.next('wait'), 'already');
    await main.settle();
    const again = await main.next('wait');
    main.resolve(1, answered('q'));
    main.waited(again, 'already');

    expect(await main.next('end')).toMatchObject({ ending: { status: 'completed', output: { status: 'answered' } } });
  });

  test('the end queues too, and goes out with the next claim', async () => {
    const raw = await run(async (task, raw) => {
      void task.ask('q', QUESTION);
      await raw;
      return 1;
    });
    await main.commit('ask');
    const wait = await main.next('wait');
    raw.resolve();
    await main.settle();
    expect(main.unread).toEqual([]);

    main.waited(wait, 'waiting');
    await main.next('wake');
    main.adopt(2, answered('q'));

    expect(await main.next('end')).toMatchObject({ fence: 2, n: 3 });
  });
});
