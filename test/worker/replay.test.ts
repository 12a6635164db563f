import { afterEach, describe, expect, test } from 'vitest';
import type { TaskHandle } from '../../src/model/agent.ts';
import { defer } from '../../src/worker/deferred.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { childCompleted } from '../support/journal.ts';
import { answered, MainSide, QUESTION, slept } from '../support/worker-main-side.ts';

let main: MainSide;
afterEach(() => main.close());

async function run(code: (task: TaskHandle) => unknown): Promise<void> {
  main = new MainSide([defineAgent({ name: 'agent', run: code })]);
  main.start('agent');
  await main.next('ready');
}

describe('a copy that is started from a journal', () => {
  test('gives the code what each kind of key came to, and runs and reports nothing again', async () => {
    const seen: unknown[] = [];
    let bodies = 0;
    const body = () => ++bodies;
    await run(async (task) => {
      const values: unknown[] = [];
      values.push(await task.step('s', body));
      await task.emit('my.event');
      values.push(await task.say('m', 'Hello'));
      values.push(
        await task.step('f', () => Promise.reject(Object.assign(new RangeError('no'), { seats: 0 }))).catch(String),
      );
      values.push(await task.inbox());
      values.push(await task.ask('q', QUESTION));
      values.push(await task.sleep('z', 1));
      const child = await task.spawn('c', 'agent', { a: 1 });
      values.push(child.id, await child.result());
      await task.progress(1);
      values.push(task.random('r'), task.uuid('u'), task.now());
      seen.push(values);
      await task.sleep('end', 1);
    });
    await main.step('s');
    await main.commit('append');
    await main.commit('startStep');
    await main.commit('append');
    await main.commit('settleStep');
    await main.step('f');
    main.journal.inbox = [{ hello: 1 }];
    await main.commit('inbox');
    await main.commit('ask');
    main.waited(await main.next('wait'), 'waiting');
    main.adopt(2, answered('q'));
    await main.commit('sleep');
    main.waited(await main.next('wait'), 'waiting');
    main.adopt(3, slept('z'));
    await main.commit('spawn');
    main.waited(await main.next('wait'), 'waiting');
    main.adopt(4, childCompleted('c', 2));
    await main.commit('append');
    await main.commit('sleep');

    await main.replay();
    const wait = await main.next('wait');

    expect(wait).toMatchObject({ fence: 5, n: 1, keys: ['end'], ord: 8 });
    expect(seen[1]).toEqual(seen[0]);
    expect(bodies).toBe(1);
  });

  test('delivers in the order of the store, and what comes of one thing has run dry before the next', async () => {
    const order: string[] = [];
    await run(async (task) => {
      const note = (name: string) => async () => {
        order.push(name);
        for (let i = 0; i < 50; i++) await null;
        order.push(`after ${name}`);
      };
      await Promise.all([
        task.ask('q', QUESTION).then(note('ask')),
        task.emit('my.a').then(note('emit 1')),
        task.sleep('z', 1).then(note('sleep')),
        task.step('s', () => 1).then(note('step')),
        task.emit('my.b').then(note('emit 2')),
      ]);
      await task.sleep('end', 1);
    });
    await main.commit('ask');
    await main.commit('append');
    main.resolve(1, answered('q'));
    await main.commit('sleep');
    await main.commit('startStep');
    await main.commit('append');
    await main.commit('settleStep');
    main.resolve(1, slept('z'));
    await main.commit('sleep');
    const live = order.splice(0);

    await main.replay();
    await main.next('wait');

    const each = ['emit 1', 'ask', 'emit 2', 'step', 'sleep'];
    expect(live).toEqual(each.flatMap((name) => [name, `after ${name}`]));
    expect(order).toEqual(live);
  });

  test('holds a delivery back until all has been asked for that was asked for before it', async () => {
    let raw = defer<void>();
    const charges: unknown[] = [];
    await run(async (task) => {
      const charge = async (name: string) => charges.push([name, await task.step('charge', () => name)]);
      await Promise.all([raw.promise.then(() => charge('raw')), task.step('prepare', () => 1).then(() => charge('b'))]);
      await task.sleep('end', 1);
    });
    const prepare = [await main.next('startStep'), await main.next('settleStep')];
    raw.resolve();
    const charge = [await main.next('startStep'), await main.next('settleStep')];
    for (const report of [...prepare, ...charge]) main.ack(report);
    await main.step('charge#2');
    await main.commit('sleep');
    expect(charges.splice(0)).toHaveLength(2);

    raw = defer();
    await main.replay();
    await main.settle();
    expect(charges).toEqual([]);
    raw.resolve();
    await main.next('wait');

    expect(charges.toSorted()).toEqual([
      ['b', 'b'],
      ['raw', 'raw'],
    ]);
  });

  test('sends what is new in the order of the calls, once all that is known has come again', async () => {
    let isNew = false;
    await run(async (task) => {
      const first = task.step('a', () => 1);
      if (isNew) void Promise.all([task.step('new', () => 1), task.emit('my.new'), task.ask('new', QUESTION)]);
      await first;
      await task.step('b', () => 1);
      await task.sleep('end', 1);
    });
    await main.step('a');
    await main.step('b');
    await main.settle();

    isNew = true;
    await main.replay();

    expect(await main.next('startStep')).toMatchObject({ n: 1, step: { name: 'new' }, askedAt: 0 });
    expect(await main.next('append')).toMatchObject({ n: 2, after: 0 });
    expect(await main.next('ask')).toMatchObject({ n: 3, key: 'new#2', askedAt: 0 });
    expect(await main.next('sleep')).toMatchObject({ n: 4, key: 'end', askedAt: 2 });
  });

  test('waits for what is pending without asking again, and runs a step again that was interrupted', async () => {
    const attempts: number[] = [];
    await run(async (task) => {
      await Promise.all([
        task.ask('q', QUESTION),
        task.sleep('z', 1),
        task.spawn('c', 'agent').then((child) => child.result()),
        task.step('s', ({ attempt }) => void attempts.push(attempt)),
      ]);
    });
    await main.commit('ask');
    await main.commit('sleep');
    await main.commit('spawn');
    await main.commit('startStep');

    await main.replay();

    expect(await main.commit('startStep')).toMatchObject({ step: { name: 's', attempt: 2 }, askedAt: 0 });
    expect(await main.commit('settleStep')).toMatchObject({ step: { name: 's', attempt: 2 } });
    expect(await main.next('wait')).toMatchObject({ keys: ['q', 'z', 'c>'], ord: 2 });
    expect(attempts).toEqual([1, 2]);
  });

  test('numbers its events after those that the store has, and appends no event twice', async () => {
    await run(async (task) => {
      await task.emit('my.a');
      await task.emit('my.b');
      await task.emit('my.c');
    });
    await main.commit('append');
    await main.commit('append');

    await main.replay();

    expect(await main.next('append')).toMatchObject({ after: 2, events: [{ type: 'my.c' }] });
  });

  test('tells how many events from outside the steps came before those that it appends', async () => {
    await run(async (task) => {
      await Promise.all([
        task.step('s', async (step) => {
          await step.emit('my.inside');
        }),
        task.emit('my.outside'),
      ]);
      await task.emit('my.last');
    });
    await main.commit('startStep');
    expect(await main.commit('append')).toMatchObject({ after: 0, events: [{ type: 'my.outside' }] });
    expect(await main.commit('append')).toMatchObject({ after: 1, events: [{ type: 'my.inside' }] });
    await main.commit('settleStep');

    expect(await main.commit('append')).toMatchObject({ after: 1, events: [{ type: 'my.last' }] });
  });

  test('delivers what is resolved while it is replayed after what was resolved before', async () => {
    const order: string[] = [];
    const raw = [Promise.resolve(), defer<void>()] as const;
    let run2 = false;
    await run(async (task) => {
      const asked = task.ask('q', QUESTION).then(() => order.push('q'));
      await task.step('a', () => 1);
      order.push('a');
      await (run2 ? raw[1].promise : raw[0]);
      await task.step('b', () => 1);
      order.push('b');
      await asked;
    });
    await main.commit('ask');
    await main.step('a');
    await main.step('b');
    await main.settle();
    order.splice(0);

    run2 = true;
    await main.replay();
    await main.settle();
    main.resolve(2, answered('q'));
    await main.settle();
    raw[1].resolve();
    await main.next('end');

    expect(order).toEqual(['a', 'b', 'q']);
  });

  test('takes in no resolution twice', async () => {
    let deliveries = 0;
    await run(async (task) => {
      await task.sleep('z', 1);
      deliveries++;
      await task.sleep('end', 1);
    });
    await main.commit('sleep');
    const resolutions = main.journal.resolve(slept('z'));
    main.send({ kind: 'resolve', taskId: 'task_1', fence: 1, resolutions });
    main.send({ kind: 'resolve', taskId: 'task_1', fence: 1, resolutions });
    await main.commit('sleep');

    expect(await main.next('wait')).toMatchObject({ ord: 1 });
    expect(deliveries).toBe(1);
  });
});

describe('code that ends while it is replayed', () => {
  test('is not ended before all of its branches have come again', async () => {
    let raw = defer<void>();
    let pause = defer<void>();
    let isReplayed = false;
    await run(async (task) => {
      void raw.promise.then(() => {
        if (isReplayed) void Promise.all([task.emit('my.late'), task.step('late', () => 1)]);
        return task.step('background', () => 1);
      });
      await task.step('s', () => 1);
      await pause.promise;
      return 'done';
    });
    await main.step('s');
    await main.settle();
    raw.resolve();
    await main.commit('startStep');

    raw = defer();
    pause = defer();
    isReplayed = true;
    await main.replay();
    pause.resolve();
    await main.settle();
    expect(main.unread).toEqual([]);
    raw.resolve();

    expect(await main.next('end')).toMatchObject({ n: 1, ending: { status: 'completed', output: 'done' } });
    await main.settle();
    expect(main.unread).toEqual([]);
  });

  test('ends without what it had not been given when it ended first', async () => {
    const acted: string[] = [];
    await run(async (task) => {
      const slow = task.step('slow', () => 2).finally(() => acted.push('slow'));
      return await Promise.race([task.step('fast', () => 1), slow]);
    });
    await main.commit('startStep');
    await main.commit('startStep');
    const settled = [await main.next('settleStep'), await main.next('settleStep')];
    for (const each of settled.toSorted((a, b) => (a.step.name < b.step.name ? -1 : 1))) main.journal.commit(each);

    await main.replay();

    expect(await main.next('end')).toMatchObject({ ending: { status: 'completed', output: 1 } });
    await main.settle();
    expect(acted).toEqual([]);
  });

  test('ends at once when it throws, without a cut', async () => {
    let isNew = false;
    await run(async (task) => {
      await task.step('a', () => Promise.reject(new Error('no'))).catch(() => {});
      if (isNew) {
        void task.step('new', () => 1);
        throw new Error('new');
      }
      await task.step('b', () => 1);
      await task.sleep('end', 1);
    });
    await main.step('a');
    await main.step('b');

    isNew = true;
    await main.replay();

    expect(await main.next('end')).toMatchObject({ n: 1, ending: { error: { message: 'new' }, cut: null } });
  });

  test('reports its un-awaited calls that did not reach the store, and then its end', async () => {
    let ran = false;
    await run(async (task) => {
      void task.emit('my.a');
      void task.step('s', () => {
        ran = true;
      });
      void task.emit('my.b');
    });
    await main.commit('append');

    await main.replay();
    await main.next('startStep');
    await main.next('append');
    await main.next('end');
    await main.settle();

    expect(ran).toBe(false);
    expect(main.unread).toEqual([]);
  });
});
