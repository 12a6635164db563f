import { afterEach, describe, expect, test } from 'vitest';
import type { TaskHandle } from '../../src/model/agent.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { MAX_BATCH_EVENTS, MAX_UNACKNOWLEDGED_EVENTS, type Report } from '../../src/worker/protocol.ts';
import { answered, MainSide, QUESTION, slept } from '../support/worker-main-side.ts';

let main: MainSide;
afterEach(() => main.close());

function run(code: (task: TaskHandle) => Promise<unknown>): MainSide {
  main = new MainSide([defineAgent({ name: 'agent', run: code })]);
  main.start('agent');
  return main;
}

function eventsIn(reports: readonly Report[]): number {
  return reports.reduce(
    (sum, report) => sum + ('n' in report ? (report.kind === 'append' ? report.events.length : 1) : 0),
    0,
  );
}

describe('what an agent calls', () => {
  test('settles in the order of the commits, and what comes of one has run dry before the next', async () => {
    const order: string[] = [];
    run(async (task) => {
      const note = (name: string) => async () => {
        order.push(name);
        for (let i = 0; i < 50; i++) await null;
        order.push(`after ${name}`);
      };
      await Promise.all([
        task.ask('q', QUESTION).then(note('ask')),
        task.step('s', () => 1).then(note('step')),
        task.sleep('z', 10).then(note('sleep')),
        task.emit('my.event').then(note('emit')),
      ]);
    });
    await main.next('ready');
    await main.next('ask');
    const start = await main.next('startStep');
    await main.next('sleep');
    const emit = await main.next('append');
    const settled = await main.next('settleStep');

    main.ack(start);
    main.resolve(1, slept('z'), answered('q'));
    main.ack(emit);
    main.ack(settled);
    await main.next('end');

    const each = ['sleep', 'ask', 'emit', 'step'];
    expect(order).toEqual(each.flatMap((name) => [name, `after ${name}`]));
  });

  test('is numbered in the order of the calls and sent in that order', async () => {
    run(async (task) => {
      await Promise.all([task.step('a', () => 1), task.emit('my.event'), task.sleep('b', 1), task.ask('c', QUESTION)]);
    });
    await main.next('ready');

    const reports = [
      await main.next('startStep'),
      await main.next('append'),
      await main.next('sleep'),
      await main.next('ask'),
    ];

    expect(reports.map(({ n }) => n)).toEqual([1, 2, 3, 4]);
    expect(await main.next('settleStep')).toMatchObject({ n: 5, fence: 1 });
  });

  test('does not settle before it is acknowledged', async () => {
    let settled = false;
    run(async (task) => {
      await task.emit('my.event');
      settled = true;
    });
    await main.next('ready');
    const append = await main.next('append');
    await main.settle();
    expect(settled).toBe(false);

    main.ack(append);
    await main.next('end');

    expect(settled).toBe(true);
  });

  test('sees the time of the last key that it was given, and before the first that of the origin', async () => {
    const times: number[] = [];
    run(async (task) => {
      times.push(task.now());
      await task.emit('my.event');
      times.push(task.now());
      await task.sleep('z', 1);
      times.push(task.now());
    });
    await main.next('ready');
    await main.commit('append');
    await main.commit('sleep');
    const wait = await main.next('wait');
    main.waited(wait, 'waiting');
    main.adopt(2, slept('z'));
    await main.next('end');

    expect(times).toEqual([1000, 1000, 2001]);
  });
});

describe('events', () => {
  test('that follow each other become one report', async () => {
    run(async (task) => {
      await Promise.all([task.emit('my.a', 1), task.emit('my.b'), task.progress(0.5, 'half')]);
    });
    await main.next('ready');

    const { events } = await main.commit('append');

    expect(events).toEqual([
      { taskId: 'task_1', conversationId: null, type: 'my.a', step: null, data: '1' },
      { taskId: 'task_1', conversationId: null, type: 'my.b', step: null, data: '{}' },
      {
        taskId: 'task_1',
        conversationId: null,
        type: 'task.progress',
        step: null,
        data: '{"fraction":0.5,"note":"half"}',
      },
    ]);
    expect(await main.next('end')).toMatchObject({ n: 2 });
  });

  test('hold their data as it was at the call', async () => {
    run(async (task) => {
      const data = { count: 1 };
      const emitted = task.emit('my.event', data);
      data.count = 2;
      await emitted;
    });
    await main.next('ready');

    expect((await main.next('append')).events[0]?.data).toBe('{"count":1}');
  });

  test('are not overtaken by a later call of another kind', async () => {
    run(async (task) => {
      await Promise.all([task.emit('my.a'), task.sleep('z', 1), task.emit('my.b')]);
    });
    await main.next('ready');

    expect(await main.next('append')).toMatchObject({ events: [{ type: 'my.a' }] });
    await main.next('sleep');
    expect(await main.next('append')).toMatchObject({ events: [{ type: 'my.b' }] });
  });
});

describe('the credit of a worker', () => {
  test('lets 500 events out unacknowledged, of all copies together, and the rest as it comes back', async () => {
    const chatty = defineAgent({
      name: 'chatty',
      async run(task) {
        await Promise.all(Array.from({ length: 400 }, () => task.emit('my.event')));
      },
    });
    main = new MainSide([chatty]);
    main.start('chatty', { taskId: 'task_1' });
    main.start('chatty', { taskId: 'task_2' });
    await main.next('ready');
    await main.settle();

    const appends = [...main.unread];
    expect(eventsIn(appends)).toBeLessThanOrEqual(MAX_UNACKNOWLEDGED_EVENTS);
    expect(eventsIn(appends)).toBeGreaterThan(MAX_UNACKNOWLEDGED_EVENTS - MAX_BATCH_EVENTS);

    main.ack(await main.next('append'));
    await main.settle();
    expect(main.unread.length).toBeGreaterThan(appends.length - 1);

    while (main.unread.length > 0) {
      const report = main.unread[0];
      if (report?.kind === 'end') break;
      main.ack(await main.next('append'));
      await main.settle();
    }
    expect(main.batches.every((batch) => eventsIn(batch) <= MAX_BATCH_EVENTS)).toBe(true);
  });

  test('counts how much there is to send, too', async () => {
    const value = 'x'.repeat(900 * 1024);
    run((task) => Promise.all(Array.from({ length: 8 }, () => task.step('s', () => value))).then(() => null));
    await main.next('ready');
    for (let i = 0; i < 8; i++) await main.commit('startStep');
    await main.settle();
    expect(main.unread).toHaveLength(4);

    for (let i = 0; i < 8; i++) await main.commit('settleStep');

    await main.next('end');
  });

  test('comes back when a copy is dropped', async () => {
    const emitAll = async (task: TaskHandle) => {
      await Promise.all(Array.from({ length: 1000 }, () => task.emit('my.event')));
    };
    main = new MainSide([defineAgent({ name: 'agent', run: emitAll })]);
    main.start('agent', { taskId: 'task_1' });
    await main.next('ready');
    await main.settle();
    const sent = main.unread.length;
    main.start('agent', { taskId: 'task_2' });
    await main.settle();
    expect(main.unread).toHaveLength(sent);

    main.drop(1);
    await main.settle();
    const isRelease = (report: Report) => report.kind === 'released';
    main.unread.splice(main.unread.findIndex(isRelease), 1);

    expect(main.unread.slice(sent)).toSatisfy((reports: Report[]) =>
      reports.every((r) => 'n' in r && r.taskId === 'task_2'),
    );
    expect(eventsIn(main.unread.slice(sent))).toBe(MAX_UNACKNOWLEDGED_EVENTS);
  });

  test('holds back the function of a step until its report can go', async () => {
    let ran = false;
    run(async (task) => {
      for (let i = 0; i < 600; i++) void task.emit('my.event');
      await task.step('late', () => {
        ran = true;
      });
    });
    await main.next('ready');
    await main.settle();
    expect(ran).toBe(false);

    main.ack(await main.next('append'));
    main.ack(await main.next('append'));
    main.ack(await main.next('append'));
    await main.next('startStep');
    await main.settle();

    expect(ran).toBe(true);
  });
});
