import { afterEach, describe, expect, test } from 'vitest';
import type { StepHandle, TaskHandle } from '../../src/model/agent.ts';
import { defer } from '../../src/worker/deferred.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { MainSide, QUESTION } from '../support/worker-main-side.ts';

let main: MainSide;
afterEach(() => main.close());

async function run(code: (task: TaskHandle) => unknown): Promise<void> {
  main = new MainSide([defineAgent({ name: 'agent', run: code })]);
  main.start('agent');
  await main.next('ready');
}

/** Drops the copy and does what should let it be released; before that it must not be. */
async function expectRelease(once: () => void): Promise<void> {
  await main.settle();
  main.unread.splice(0);
  main.drop(1, 'cancelled');
  await main.settle();
  expect(main.unread).toEqual([]);
  once();
  expect(await main.next('released')).toEqual({ kind: 'released', taskId: 'task_1', fence: 1 });
  await main.settle();
  expect(main.unread).toEqual([]);
}

describe('a copy that was dropped is released', () => {
  test('at once when its code waits for its handle alone', async () => {
    await run((task) => task.ask('q', QUESTION));
    await main.commit('ask');
    main.waited(await main.next('wait'), 'waiting');

    main.drop(1, 'parked');

    expect(await main.next('released')).toEqual({ kind: 'released', taskId: 'task_1', fence: 1 });
  });

  test('when its code has ended', async () => {
    const raw = defer<void>();
    await run(() => raw.promise);

    await expectRelease(() => raw.resolve());
  });

  test('when its code comes to wait for its handle', async () => {
    const raw = defer<void>();
    await run(async (task) => {
      await raw.promise;
      await task.emit('my.event');
    });

    await expectRelease(() => raw.resolve());
  });

  test("when its code asks for a child's result", async () => {
    const raw = defer<void>();
    await run(async (task) => {
      const child = await task.spawn('c', 'agent');
      await raw.promise;
      await child.result();
    });
    await main.commit('spawn');

    await expectRelease(() => raw.resolve());
  });

  test('when the function of its step has ended, whatever became of the step', async () => {
    const raw = defer<void>();
    await run((task) => task.step('s', () => raw.promise, { timeoutMs: 1 }));
    await main.commit('startStep');
    await main.next('settleStep');

    await expectRelease(() => raw.reject(new Error('late')));
  });

  test('when the functions of all its steps have ended', async () => {
    const raws = [defer<void>(), defer<void>()] as const;
    await run((task) => Promise.all(raws.map(({ promise }, i) => task.step(`s${i}`, () => promise))));
    await main.commit('startStep');
    await main.commit('startStep');

    await expectRelease(() => {
      raws[0].resolve();
      setImmediate(() => setImmediate(() => raws[1].resolve()));
    });
  });

  test.each<[string, (task: TaskHandle, source: AsyncIterable<string>) => Promise<unknown>]>([
    ['a say', (task, source) => task.say('m', () => source)],
    ["a step's say", (task, source) => task.step('s', (step: StepHandle) => step.say(source))],
  ])('when it is cut off in the middle of %s', async (_, say) => {
    const never = { next: () => new Promise<IteratorResult<string>>(() => {}) };
    await run((task) => say(task, { [Symbol.asyncIterator]: () => never }));
    await main.commit('startStep');
    await main.settle();

    main.drop(1, 'cancelled');

    await main.settle();
    expect(main.unread.filter(({ kind }) => kind === 'released')).toHaveLength(1);
  });

  test('when its step is between two attempts', async () => {
    await run((task) =>
      task.step('s', () => Promise.reject(new Error('no')), { retry: { baseMs: 2 ** 30, maxMs: 2 ** 31 - 1 } }),
    );
    await main.commit('startStep');
    await main.commit('settleStep');

    main.drop(1);

    await main.next('released');
  });

  test('at once when this thread knows nothing of it', async () => {
    await run(() => {});
    await main.commit('end');
    await main.settle();

    main.drop(1);

    await main.next('released');
  });

  test('when it was dropped before its code could begin', async () => {
    const raw = defer<void>();
    let began = false;
    const input = {
      '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => raw.promise.then(() => ({ value })) },
    } as const;
    main = new MainSide([defineAgent({ name: 'agent', input, run: () => (began = true) })]);
    main.start('agent');
    await main.next('ready');

    await expectRelease(() => raw.resolve());
    expect(began).toBe(false);
  });
});
