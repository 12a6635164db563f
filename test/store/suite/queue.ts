import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { Owner } from '../../support/store-owner.ts';
import type { Engine } from '../store.suite.ts';

export function testQueue(engine: Engine): void {
  describe('the queue', () => {
    let store: Store;
    let ann: Owner;
    let ben: Owner;
    beforeEach(async () => {
      store = await engine.open();
      ann = new Owner(store, 'ann');
      ben = new Owner(store, 'ben');
    });
    afterEach(() => store.close());
    const claimable = async (limit: number) => (await store.claimable(limit)).map(({ taskId }) => taskId);

    test('offers by priority, then age', async () => {
      const low = await ann.create({ priority: -1 });
      const first = await ann.create();
      const high = await ann.create({ priority: 5 });
      const second = await ann.create();

      expect((await store.claimable(10))[0]).toEqual({ owner: 'ann', taskId: high.id, agent: 'planner' });
      expect(await claimable(10)).toEqual([high.id, first.id, second.id, low.id]);
      expect(await claimable(2)).toEqual([high.id, first.id]);
    });

    test('gives owners turns, however much one of them has queued', async () => {
      for (let i = 0; i < 20; i++) await ann.create({ priority: 100 });
      const [first, second] = [await ben.create(), await ben.create()];

      const offered = await claimable(6);

      expect(offered).toHaveLength(6);
      expect(offered).toContain(first.id);
      expect(offered).toContain(second.id);
    });

    test('passes over owners who may have none, and they keep their turns', async () => {
      const first = await ann.create();
      const bens = [await ben.create(), await ben.create()];

      const offered = await store.claimable(10, new Set(['ann']));

      expect(offered.map(({ taskId }) => taskId)).toEqual(bens.map(({ id }) => id));
      expect(await claimable(1)).toEqual([first.id]);
      expect(await store.claimable(10, new Set(['ann', 'ben']))).toEqual([]);
    });

    test('offers the tasks of certain agents alone when asked for those, where processes share it', async () => {
      const urgent = await ann.create({ agent: 'writer', priority: 9 });
      const mine = await ann.create();
      const theirs = await ben.create({ agent: 'cook' });
      const offered = async (...agents: string[]) =>
        (await store.claimable(10, new Set(), agents)).map(({ taskId }) => taskId);

      if (store.cluster === null) {
        // A process that has the database for itself has all agents.
        expect(new Set(await offered('planner'))).toEqual(new Set([urgent.id, mine.id, theirs.id]));
        return;
      }
      expect(await offered('planner')).toEqual([mine.id]);
      expect(await offered('planner', 'cook')).toEqual([mine.id, theirs.id]);
      expect(await offered('nobody')).toEqual([]);
      expect((await store.claimable(10, undefined, null)).map(({ taskId }) => taskId)).toContain(urgent.id);
    });

    test('comes to every owner in turn when it is asked for one at a time', async () => {
      const owners = ['ann', 'ben', 'cleo'];
      for (const name of owners) for (let i = 0; i < 3; i++) await new Owner(store, name).create();
      const served: string[] = [];

      for (let turn = 0; turn < 6; turn++) {
        const [next] = await store.claimable(1);
        served.push(next?.owner ?? '');
        await new Owner(store, next?.owner).claim(next?.taskId ?? '');
      }

      expect(served).toEqual([...owners, ...owners]);
    });

    test('lets new owners queue behind those who wait', async () => {
      for (let i = 0; i < 4; i++) await ann.create();
      await ann.claim((await store.claimable(1))[0]?.taskId ?? '');

      for (let i = 0; i < 3; i++) await new Owner(store, `late-${i}`).create();

      expect((await store.claimable(1))[0]?.owner).toBe('ann');
    });

    test('offers only queued tasks', async () => {
      const running = await ann.start();
      await ann.finish(await ann.start());
      await ann.ask(running, 'month');
      await ann.wait(running, ['month']);

      expect(await claimable(10)).toEqual([]);
    });

    test('offers a waiting task again when its answer has come', async () => {
      const task = await ann.start();
      const question = await ann.ask(task, 'month');
      await ann.wait(task, ['month']);

      await ann.answer(question.id);

      expect(await claimable(10)).toEqual([task.id]);
    });

    test('offers one task of a lane, and none while one of it runs', async () => {
      const inLane = { concurrencyKey: 'deploy' };
      const first = await ann.create(inLane);
      const urgent = await ann.create({ ...inLane, priority: 5 });
      const other = await ann.create();
      expect(await claimable(10)).toEqual([urgent.id, other.id]);

      const running = await ann.claim(urgent.id);
      expect(await claimable(10)).toEqual([other.id]);

      await ann.finish(running);
      expect(await claimable(10)).toEqual([first.id, other.id]);
    });

    test('frees a lane while its task waits, and refuses it the lane when another has it', async () => {
      const inLane = { concurrencyKey: 'deploy' };
      const waiting = await ann.start(inLane);
      const question = await ann.ask(waiting, 'month');
      await ann.wait(waiting, ['month']);
      const next = await ann.start(inLane);

      await ann.answer(question.id);

      expect(await claimable(10)).toEqual([]);
      await expect(ann.claim(waiting.id)).rejects.toThrow('busy');
      await ann.finish(next);
      expect(await claimable(10)).toEqual([waiting.id]);
    });

    test('keeps the lanes of owners apart', async () => {
      await ann.start({ concurrencyKey: 'deploy' });
      const theirs = await ben.create({ concurrencyKey: 'deploy' });

      expect(await claimable(10)).toEqual([theirs.id]);
      await expect(ben.claim(theirs.id)).resolves.toMatchObject({ status: 'running' });
    });

    test('moves a lane on when the first in line is cancelled', async () => {
      const first = await ann.create({ concurrencyKey: 'deploy' });
      const second = await ann.create({ concurrencyKey: 'deploy' });

      await store.commit('ann', [{ verb: 'cancelTask', args: { taskId: first.id, reason: null } }]);

      expect(await claimable(10)).toEqual([second.id]);
    });

    test('gives a task to one of two who claim it', async () => {
      const { id: taskId } = await ann.create();
      const claim = { verb: 'claimTask', args: ann.claimArgs(taskId) } as const;

      const batches = await Promise.all([store.commit('ann', [claim]), store.commit('ann', [claim])]);

      expect(batches.map(({ outcomes }) => outcomes[0].ok)).toEqual([true, false]);
      expect(await store.task('ann', taskId)).toMatchObject({ fence: 1, node: store.node });
    });

    test('keeps a lane closed until the worker of its cancelled task has let go', async () => {
      const running = await ann.start({ concurrencyKey: 'deploy' });
      const next = await ann.create({ concurrencyKey: 'deploy' });
      await ann.cancel(running.id);
      expect(await claimable(10)).toEqual([]);
      await expect(ann.claim(next.id)).rejects.toThrow('busy');

      await ann.release(running);

      expect(await claimable(10)).toEqual([next.id]);
    });

    test('offers no task whose last attempt a worker still runs', async () => {
      const task = await ann.start({ maxAttempts: 2, timeoutMs: 0 });
      await ann.fail(task, { when: 'deadline' });
      expect(await claimable(10)).toEqual([]);

      await ann.release(task);

      expect(await claimable(10)).toEqual([task.id]);
    });

    test('lets others of a lane pass a task that is not ready yet', async () => {
      const first = await ann.start({ concurrencyKey: 'deploy', maxAttempts: 2 });
      const second = await ann.create({ concurrencyKey: 'deploy', priority: -1 });

      const failed = await ann.fail(first, { jitter: 1 });

      expect(failed).toMatchObject({ status: 'queued', runAt: expect.any(Number) });
      expect(await claimable(10)).toEqual([second.id]);
      expect(await store.nextDueAt()).toBe(failed.runAt);
    });

    test('makes deadlines, timers, questions and delayed tasks due when their time has come, the earliest first', async () => {
      const late = await ann.start({ timeoutMs: 0 });
      await ann.later();
      const sleeper = await ben.start();
      await ben.sleep(sleeper, 'nap', 0);
      await ben.sleep(sleeper, 'night', 60_000);
      await ann.later();
      const question = await ben.ask(sleeper, 'month', 0);
      await ann.later();
      const delayed = await ann.create({ runAt: (await ann.clock()) + 250 });
      await ann.later(delayed.runAt ?? 0);

      const due = await store.due(10);

      expect(due).toEqual([
        { owner: 'ann', kind: 'deadline', taskId: late.id, fence: 1, timeoutMs: 0 },
        { owner: 'ben', kind: 'timer', taskId: sleeper.id, key: 'nap' },
        { owner: 'ben', kind: 'question', questionId: question.id },
        { owner: 'ann', kind: 'ready', taskId: delayed.id },
      ]);
      expect(await store.due(3)).toEqual(due.slice(0, 3));
      expect(await store.nextDueAt()).toBe(late.deadlineAt);
    });

    test('keeps suspects apart', async () => {
      const [suspect, other] = [await ann.create({ concurrencyKey: 'deploy' }), await ben.create()];

      await ann.crashTwice(suspect.id);

      expect(await claimable(10)).toEqual([other.id]);
      const item = { owner: 'ann', taskId: suspect.id, agent: 'planner', crashes: 2, aloneCrashes: 0 };
      expect(await store.suspects(10)).toEqual([item]);
      expect(await store.newestSuspects(2)).toEqual([]);
    });

    test('replaces the descriptions of agents', async () => {
      const describe = (name: string) => ({ name, description: 'Plans.', version: '1', inputSchema: null });

      await store.describeAgents([describe('writer'), describe('planner')]);
      await store.describeAgents([describe('planner'), { ...describe('cook'), inputSchema: { type: 'object' } }]);

      expect(await store.agents()).toEqual([
        { ...describe('cook'), inputSchema: { type: 'object' } },
        describe('planner'),
      ]);
    });
  });
}
