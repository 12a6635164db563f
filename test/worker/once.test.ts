import { afterEach, describe, expect, test } from 'vitest';
import type { TaskHandle } from '../../src/model/agent.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { MainSide } from '../support/worker-main-side.ts';

let main: MainSide;
let bodies = 0;
afterEach(() => main.close());

async function run(code: (task: TaskHandle) => unknown): Promise<void> {
  bodies = 0;
  main = new MainSide([defineAgent({ name: 'agent', run: code })]);
  main.start('agent');
  await main.next('ready');
}

const pay = (task: TaskHandle) => task.step('pay', () => ++bodies, { once: true });
const uncertain = { name: 'StepUncertain', code: 'step_uncertain' };

describe('a step that runs once', () => {
  test('runs when its start is on disk, not before', async () => {
    await run(pay);
    const start = await main.next('startStep');
    await main.settle();
    expect(bodies).toBe(0);

    main.ack(start);

    expect(await main.next('settleStep')).toMatchObject({ once: true, outcome: { value: '1' } });
    expect(start).toMatchObject({ once: true });
  });

  test('is not run again when it was interrupted: it throws, and that is written down', async () => {
    const caught: unknown[] = [];
    await run(async (task) => {
      await pay(task).catch((error: unknown) => caught.push(error));
      await task.sleep('end', 1);
    });
    await main.commit('startStep');
    await main.replay();
    const settled = await main.commit('settleStep');
    await main.commit('sleep');
    await main.replay({ fence: 3 });
    await main.next('wait');

    expect(settled).toMatchObject({ n: 1, step: { name: 'pay', attempt: 1 }, askedAt: 0, ms: 0 });
    expect(settled.outcome).toMatchObject({ status: 'failed', error: { code: 'agent_error' }, retryInMs: null });
    expect(caught).toMatchObject([uncertain, uncertain]);
    expect(caught[0]).toEqual(caught[1]);
    expect(bodies).toBe(1);
  });

  test('throws where its row was cut off, but only under its own key and its own kind', async () => {
    const caught: unknown[] = [];
    await run(async (task) => {
      await task.sleep('pay', 1);
      await task.step('pay', () => ++bodies);
      await pay(task).catch((error: unknown) => caught.push(error));
    });
    await main.replay({ marks: ['pay', 'pay#2', 'pay#3'] });
    await main.commit('sleep');
    main.waited(await main.next('wait'), 'already');
    main.resolve(2, { key: 'pay', status: 'done', value: 'null' });
    await main.step('pay#2');

    expect(await main.commit('settleStep')).toMatchObject({ step: { name: 'pay#3', attempt: 1 } });
    await main.next('end');
    expect(caught).toMatchObject([uncertain]);
    expect(bodies).toBe(1);
  });

  test('is told to have failed only when all that is known has come again', async () => {
    await run(async (task) => {
      const paid = pay(task).catch(() => 'uncertain');
      await task.step('a', () => 1);
      await task.step('b', () => 1);
      return paid;
    });
    await main.commit('startStep');
    await main.commit('startStep');
    const report = await main.next('settleStep');
    const a = report.step.name === 'a' ? report : await main.next('settleStep');
    main.journal.commit(a);

    await main.replay();

    expect(await main.commit('settleStep')).toMatchObject({ n: 1, step: { name: 'pay' }, askedAt: 0 });
    expect(await main.commit('startStep')).toMatchObject({ step: { name: 'b' }, askedAt: 1 });
    await main.commit('settleStep');
    expect(await main.next('end')).toMatchObject({ ending: { output: 'uncertain' } });
  });
});
