import { afterEach, describe, expect, test } from 'vitest';
import type { ChildHandle, TaskHandle } from '../../src/model/agent.ts';
import { isId } from '../../src/model/id.ts';
import { defer } from '../../src/worker/deferred.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { childCompleted, childFailed } from '../support/journal.ts';
import { MainSide } from '../support/worker-main-side.ts';

let main: MainSide;
afterEach(() => main.close());

async function run(code: (task: TaskHandle) => unknown): Promise<void> {
  main = new MainSide([defineAgent({ name: 'agent', run: code })]);
  main.start('agent');
  await main.next('ready');
}

describe('a child', () => {
  test('is spawned with its agent and its input, and is known by its id once that is on disk', async () => {
    await run(async (task) => {
      const child = await task.spawn('c', 'helper', { city: 'Lisbon', none: undefined } as never);
      return child.id;
    });

    const spawn = await main.commit('spawn');

    expect(spawn).toMatchObject({ n: 1, key: 'c', askedAt: 0, agent: 'helper', input: { city: 'Lisbon' } });
    expect(isId('task', spawn.childId)).toBe(true);
    expect(await main.next('end')).toMatchObject({ ending: { output: spawn.childId } });
  });

  test('has null for an input when it is given none', async () => {
    await run((task) => task.spawn('c', 'helper'));

    expect(await main.next('spawn')).toMatchObject({ input: null });
  });

  test('is waited for, and gives one promise of its result however often it is asked', async () => {
    let same = false;
    await run(async (task) => {
      const child = await task.spawn('c', 'helper');
      const result = child.result();
      same = child.result() === result;
      return await result;
    });
    await main.commit('spawn');
    main.waited(await main.next('wait'), 'waiting');

    main.adopt(2, childCompleted('c', { done: true }));

    expect(await main.next('end')).toMatchObject({
      ending: { output: { status: 'completed', output: { done: true } } },
    });
    expect(same).toBe(true);
  });

  test('may end before anybody asks for its result', async () => {
    const raw = defer<void>();
    await run(async (task) => {
      const child = await task.spawn('c', 'helper');
      await task.step('s', () => raw.promise);
      return await child.result();
    });
    await main.commit('spawn');
    await main.commit('startStep');
    main.resolve(1, childFailed('c', 'no seats'));
    await main.settle();
    raw.resolve();
    await main.commit('settleStep');

    const error = { code: 'agent_error', message: 'no seats' };
    expect(await main.next('end')).toMatchObject({ ending: { output: { status: 'failed', error } } });
  });

  test('is not waited for as long as nobody has asked for its result', async () => {
    const raw = defer<void>();
    let child: ChildHandle | undefined;
    await run(async (task) => {
      child = await task.spawn('c', 'helper');
      await raw.promise;
      return (await child.result()).status;
    });
    await main.commit('spawn');
    await main.settle();
    expect(main.unread).toEqual([]);

    raw.resolve();

    expect(await main.next('wait')).toMatchObject({ keys: ['c>'], ord: 1 });
  });

  test('is not spawned again on replay, and neither is its result forgotten', async () => {
    const seen: unknown[] = [];
    await run(async (task) => {
      const child = await task.spawn('c', 'helper');
      seen.push(child.id, await child.result());
      await task.sleep('end', 1);
    });
    await main.commit('spawn');
    main.waited(await main.next('wait'), 'waiting');
    main.adopt(2, childCompleted('c', 1));
    await main.commit('sleep');

    await main.replay();
    await main.next('wait');

    expect(seen.slice(2)).toEqual(seen.slice(0, 2));
  });

  test('that is to be made anew keeps its place, and is spawned while the rest is replayed', async () => {
    const order: unknown[] = [];
    await run(async (task) => {
      const spawned = task.spawn('c', 'helper').then((child) => {
        order.push('child');
        return child;
      });
      const stepped = task.step('s', () => 1).then(() => order.push('step'));
      void task.emit('my.event').then(() => order.push('event'));
      const [child] = await Promise.all([spawned, stepped]);
      order.push(child.id);
      await child.result();
    });
    const first = await main.commit('spawn');
    await main.commit('startStep');
    await main.commit('append');
    await main.commit('settleStep');
    await main.settle();
    expect(order.splice(0)).toEqual(['child', 'event', 'step', first.childId]);
    const row = main.journal.rows.get('c');
    if (row === undefined) throw new Error('It was committed.');
    main.journal.rows.set('c', { ...row, status: 'pending', value: null });
    main.journal.rows.delete('c>');

    await main.replay();
    const second = await main.next('spawn');
    await main.settle();
    expect(order).toEqual([]);
    main.ack(second);
    expect(await main.next('wait')).toMatchObject({ keys: ['c>'], ord: 2 });

    expect(second).toMatchObject({ n: 1, key: 'c', askedAt: 0 });
    expect(second.childId).not.toBe(first.childId);
    expect(order).toEqual(['child', 'event', 'step', second.childId]);
  });
});

describe('the inbox', () => {
  test('gives what came since it was read last, again on replay', async () => {
    const seen: unknown[] = [];
    await run(async (task) => {
      seen.push(await task.inbox(), await task.inbox());
      await task.sleep('end', 1);
    });
    main.journal.inbox = ['one', { two: 2 }];
    expect(await main.commit('inbox')).toMatchObject({ n: 1, key: 'inbox', askedAt: 0 });
    main.journal.inbox = ['three'];
    expect(await main.commit('inbox')).toMatchObject({ n: 2, key: 'inbox#2', askedAt: 1 });
    await main.commit('sleep');
    main.journal.inbox = ['four'];

    await main.replay();
    await main.next('wait');

    expect(seen).toEqual([['one', { two: 2 }], ['three'], ['one', { two: 2 }], ['three']]);
  });
});
