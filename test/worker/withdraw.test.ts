import { afterEach, describe, expect, test } from 'vitest';
import type { TaskHandle } from '../../src/model/agent.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { answered, MainSide, QUESTION } from '../support/worker-main-side.ts';

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
    main.resolve(2, { key: 'q', outcome: { status: 'expired' } });
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
    const append = await main.next('append');

    const { taskId, fence, n } = append;
    main.send(
      { kind: 'ack', taskId, fence, n, at: 1 },
      { kind: 'resolve', taskId, fence, at: 2, resolutions: [answered('q')] },
    );

    expect(await main.next('end')).toMatchObject({ ending: { output: 'answered' } });
  });

  test('is never opened when it has aborted already, and takes its key', async () => {
    await run(async (task) => {
      const first = await task.ask('q', { ...QUESTION, signal: AbortSignal.abort() });
      await task.ask('q', QUESTION);
      return first;
    });

    await main.commit('withdraw');

    expect(await main.next('ask')).toMatchObject({ key: 'q#2', n: 2 });
  });
});
