import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import type { TaskHandle } from '../../src/model/agent.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { expired } from '../support/journal.ts';
import { answered, MainSide, QUESTION, slept } from '../support/worker-main-side.ts';

let main: MainSide;
afterEach(() => main.close());

async function run(code: (task: TaskHandle) => unknown): Promise<void> {
  main = new MainSide([defineAgent({ name: 'agent', run: code })]);
  main.start('agent');
  await main.next('ready');
}

describe('a question with a signal', () => {
  test('is withdrawn when it aborts, and resolves with what the store says', async () => {
    const controller = new AbortController();
    await run(async (task) => (await task.ask('q', { ...QUESTION, signal: controller.signal })).status);
    await main.commit('ask');
    main.waited(await main.next('wait'), 'waiting');

    controller.abort();
    await main.next('wake');
    main.adopt(2);
    const withdraw = await main.next('withdraw');
    expect(withdraw).toMatchObject({ key: 'q', fence: 2 });
    main.resolve(2, expired('q'));
    main.ack(withdraw);

    expect(await main.next('end')).toMatchObject({ ending: { output: 'expired' } });
  });

  test('is not withdrawn once its outcome is known', async () => {
    const controller = new AbortController();
    await run(async (task) => {
      await task.ask('q', { ...QUESTION, signal: controller.signal });
      controller.abort();
      await task.emit('my.event');
    });
    await main.commit('ask');
    main.waited(await main.next('wait'), 'waiting');

    main.adopt(2, answered('q'));

    await main.commit('append');
    await main.next('end');
  });

  test('is not withdrawn when its outcome is known but its turn has not come', async () => {
    const controller = new AbortController();
    await run(async (task) => {
      const asked = task.ask('q', { ...QUESTION, signal: controller.signal });
      await task.emit('my.event');
      controller.abort();
      return (await asked).status;
    });
    await main.commit('ask');
    const { taskId, fence, n } = await main.next('append');
    main.journal.emits = 1;

    const resolutions = main.journal.resolve(answered('q'));
    main.send({ kind: 'ack', taskId, fence, n }, { kind: 'resolve', taskId, fence, resolutions });

    expect(await main.next('end')).toMatchObject({ ending: { output: 'answered' } });
  });

  test('is withdrawn by a signal that it shares with many, without a warning', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on('warning', warn);
    const controller = new AbortController();
    const { signal } = controller;
    await run(async (task) => {
      const asked = Array.from({ length: 30 }, () => task.ask('q', { ...QUESTION, signal }));
      return (await Promise.all(asked)).every(({ status }) => status === 'withdrawn');
    });
    for (let i = 0; i < 30; i++) await main.commit('ask');
    await main.next('wait').then((wait) => main.waited(wait, 'already'));

    controller.abort();
    await main.settle();
    while (main.unread[0]?.kind === 'wait') main.waited(await main.next('wait'), 'already');
    for (let i = 0; i < 30; i++) await main.commit('withdraw');

    expect(await main.next('end')).toMatchObject({ ending: { output: true } });
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  test('is withdrawn once when its copy is replayed, by the signal as by the journal', async () => {
    const replies: unknown[] = [];
    await run(async (task) => {
      const controller = new AbortController();
      const asked = task.ask('q', { ...QUESTION, signal: controller.signal });
      await task.sleep('z', 1);
      controller.abort();
      replies.push((await asked).status);
      await task.sleep('end', 1);
    });
    await main.commit('ask');
    await main.commit('sleep');
    main.waited(await main.next('wait'), 'waiting');
    main.adopt(2, slept('z'));
    await main.next('withdraw');

    await main.replay();
    expect(await main.commit('withdraw')).toMatchObject({ n: 1, key: 'q', askedAt: 0 });
    await main.commit('sleep');
    await main.replay();

    expect(await main.next('wait')).toMatchObject({ n: 1, keys: ['end'] });
    expect(replies).toEqual(['withdrawn', 'withdrawn']);
  });

  test('keeps the answer that came first, on replay too', async () => {
    const replies: unknown[] = [];
    await run(async (task) => {
      const controller = new AbortController();
      const asked = task.ask('q', { ...QUESTION, signal: controller.signal });
      await task.sleep('z', 1);
      controller.abort();
      replies.push((await asked).status);
      await task.sleep('end', 1);
    });
    await main.commit('ask');
    await main.commit('sleep');
    main.waited(await main.next('wait'), 'waiting');
    main.adopt(2, slept('z'));
    const withdraw = await main.next('withdraw');
    main.resolve(2, answered('q'));
    main.ack(withdraw);
    await main.commit('sleep');

    await main.replay();

    expect(await main.next('wait')).toMatchObject({ n: 1, keys: ['end'] });
    expect(replies).toEqual(['answered', 'answered']);
  });

  test('lets go of its signal when it has come to something, and when its copy is gone', async () => {
    const { signal } = new AbortController();
    await run(async (task) => {
      await task.ask('q', { ...QUESTION, signal });
      await task.ask('r', { ...QUESTION, signal });
    });
    await main.commit('ask');
    main.resolve(1, answered('q'));
    await main.commit('ask');
    const during = getEventListeners(signal, 'abort').length;

    main.drop(1);
    await main.next('released');

    expect([during, getEventListeners(signal, 'abort').length]).toEqual([1, 0]);
  });

  test('is never opened when it has aborted already, and takes its key', async () => {
    await run(async (task) => {
      const first = await task.ask('q', { ...QUESTION, signal: AbortSignal.abort() });
      await task.ask('q', QUESTION);
      return first;
    });

    expect(await main.commit('withdraw')).toMatchObject({ key: 'q', askedAt: 0 });

    expect(await main.next('ask')).toMatchObject({ key: 'q#2', n: 2, askedAt: 1 });
  });
});
