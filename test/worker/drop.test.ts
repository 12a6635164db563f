import { afterEach, describe, expect, test } from 'vitest';
import type { TaskHandle } from '../../src/model/agent.ts';
import { defer } from '../../src/worker/deferred.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { answered, MainSide, QUESTION } from '../support/worker-main-side.ts';

let main: MainSide;
afterEach(() => main.close());

async function run(code: (task: TaskHandle) => unknown): Promise<void> {
  main = new MainSide([defineAgent({ name: 'agent', run: code })]);
  main.start('agent');
  await main.next('ready');
}

describe('a copy that is dropped', () => {
  test('never settles a promise, so that no catch or finally acts on its loss', async () => {
    const acted: string[] = [];
    await run(async (task) => {
      const act = (what: string) => () => acted.push(what);
      await Promise.allSettled([
        task.emit('my.event').finally(act('emit')),
        task.step('s', () => 1).finally(act('step')),
        task.ask('q', QUESTION).finally(act('ask')),
      ]);
      act('all')();
    });
    const append = await main.next('append');
    const start = await main.next('startStep');
    await main.next('ask');
    await main.next('settleStep');

    main.drop(1);
    main.ack(append);
    main.ack(start);
    main.resolve(1, answered('q'));
    await main.settle();

    expect(acted).toEqual([]);
  });

  test('sends nothing more, whatever its code still does', async () => {
    const goOn = defer<void>();
    await run(async (task) => {
      await goOn.promise;
      void task.emit('my.event');
      await Promise.race([task.step('s', () => 1), goOn.promise]);
      return 'done';
    });
    await main.settle();

    main.drop(1);
    await main.settle();
    goOn.resolve();
    await main.next('released');
    await main.settle();

    expect(main.unread).toEqual([]);
  });

  test('sends nothing of what it had still to send', async () => {
    await run(async (task) => {
      for (let i = 0; i < 600; i++) void task.emit('my.event');
      await task.sleep('z', 1);
    });
    await main.settle();
    const sent = main.unread.length;

    main.drop(1);
    await main.settle();

    expect(main.unread.slice(sent)).toMatchObject([{ kind: 'released' }]);
  });

  test.each([
    ['lost', 'The task was lost to this worker.'],
    ['cancelled', 'The task was cancelled.'],
    ['timeout', 'The task has used up its time.'],
    ['parked', 'The task waits, and goes on in another copy.'],
  ] as const)('aborts its signal and those of its steps with the reason: %s', async (reason, message) => {
    const signals: AbortSignal[] = [];
    await run((task) => {
      signals.push(task.signal);
      return task.step('s', (step) => {
        signals.push(step.signal);
        return new Promise(() => {});
      });
    });
    await main.commit('startStep');
    await main.settle();

    main.drop(1, reason);
    await main.settle();

    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(signals.map((signal) => signal.reason)).toMatchObject([
      { name: 'AbortError', message },
      { name: 'AbortError', message },
    ]);
  });

  test('takes its place with a new copy of the same task', async () => {
    await run((task) => task.emit('my.event'));
    const old = await main.next('append');
    main.drop(1);
    await main.next('released');
    main.start('agent', { fence: 2 });
    const fresh = await main.next('append');
    expect(fresh).toMatchObject({ fence: 2, n: 1 });

    main.send({ kind: 'ack', taskId: 'task_1', fence: 1, n: old.n });
    await main.settle();
    expect(main.unread).toEqual([]);
    main.ack(fresh);

    expect(await main.next('end')).toMatchObject({ fence: 2 });
  });

  test('is not dropped by a command for another claim', async () => {
    await run((task) => task.emit('my.event'));
    const append = await main.next('append');

    main.drop(2);
    main.ack(append);
    await main.next('released');

    await main.next('end');
  });
});
