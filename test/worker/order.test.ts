import { afterEach, describe, expect, test } from 'vitest';
import type { TaskHandle } from '../../src/model/agent.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { answered, MainSide, QUESTION, slept } from '../support/worker-main-side.ts';

let main: MainSide;
afterEach(() => main.close());

async function run(code: (task: TaskHandle) => unknown): Promise<void> {
  main = new MainSide([defineAgent({ name: 'agent', run: code })]);
  main.start('agent');
  await main.next('ready');
}

describe('events and keys', () => {
  test('are delivered in the order of the commits, whichever is heard of first', async () => {
    const order: string[] = [];
    await run(async (task) => {
      const note = (what: string) => () => order.push(what);
      await Promise.all([
        task.ask('q', QUESTION).then(note('answer')),
        task.emit('my.a').then(note('a')),
        task.sleep('z', 1).then(note('sleep')),
        task.emit('my.b').then(note('b')),
      ]);
    });
    const ask = await main.next('ask');
    const [a, z, b] = [await main.next('append'), await main.next('sleep'), await main.next('append')];
    main.journal.commit(ask);
    const answer = main.journal.resolve(answered('q'));
    main.journal.commit(a);
    main.journal.commit(z);
    const sleep = main.journal.resolve(slept('z'));

    const task = { taskId: 'task_1', fence: 1 };
    main.send({ kind: 'resolve', ...task, resolutions: [...answer, ...sleep] }, { kind: 'ack', ...task, n: z.n });
    main.ack(b);
    await main.next('end');

    expect(order).toEqual(['answer', 'a', 'sleep', 'b']);
  });

  test('come with how many deliveries there were when they were called for', async () => {
    await run(async (task) => {
      const late = task.step('late', () => new Promise(() => {}));
      await task.emit('my.event');
      await task.step('s', () => 1);
      await Promise.all([task.sleep('z', 1), task.ask('q', QUESTION), task.inbox(), task.spawn('c', 'agent'), late]);
    });
    expect(await main.commit('startStep')).toMatchObject({ askedAt: 0 });
    await main.commit('append');
    expect(await main.commit('startStep')).toMatchObject({ askedAt: 1 });
    expect(await main.commit('settleStep')).toMatchObject({ askedAt: 1 });

    expect(await main.next('sleep')).toMatchObject({ askedAt: 2 });
    expect(await main.next('ask')).toMatchObject({ askedAt: 2 });
    expect(await main.next('inbox')).toMatchObject({ askedAt: 2 });
    expect(await main.next('spawn')).toMatchObject({ askedAt: 2 });
  });

  test('reach the code as their JSON says, each time a new value', async () => {
    const given = { deep: { list: [1] }, date: new Date(0), none: undefined };
    const values: unknown[] = [];
    await run(async (task) => {
      values.push(await task.step('s', () => given));
      await task.sleep('end', 1);
    });
    await main.step('s');
    await main.commit('sleep');
    await main.replay();
    await main.next('wait');

    expect(values).toEqual(Array(2).fill({ deep: { list: [1] }, date: '1970-01-01T00:00:00.000Z' }));
    expect(values[0]).not.toBe(given);
  });
});
