import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { createArgs, Owner } from '../../support/store-owner.ts';
import type { Engine } from '../store.suite.ts';

const HOUR_MS = 60 * 60_000;

/** What depends on time, by a clock that only the test moves. */
export function testClock(engine: Engine): void {
  describe('time', () => {
    let store: Store;
    let ann: Owner;
    let now: number;
    beforeEach(async () => {
      now = Date.UTC(2026, 10, 30);
      store = await engine.open({ now: () => now });
      ann = new Owner(store);
    });
    afterEach(() => store.close());

    test('is the clock of the store, everywhere', async () => {
      now += 1;
      const task = await ann.start();

      expect(store.now()).toBe(now);
      expect(task).toMatchObject({ createdAt: now, startedAt: now, deadlineAt: now + 60_000 });
      expect((await ann.read()).events[0]).toMatchObject({ at: now });
    });

    test('lets an idempotency key go after 24 hours', async () => {
      const create = () => ({
        verb: 'createTask' as const,
        args: createArgs(),
        idempotency: { key: 'k', fingerprint: 'a' },
      });
      await store.commit(ann.name, [create()]);

      now += 24 * HOUR_MS - 1;
      const before = await store.commit(ann.name, [create()]);
      now += 1;
      const after = await store.commit(ann.name, [create()]);
      const again = await store.commit(ann.name, [create()]);

      expect(before.outcomes[0]).toMatchObject({ replayed: true });
      expect(after.outcomes[0]).toMatchObject({ replayed: false });
      expect(again.outcomes[0]).toMatchObject({ replayed: true });
    });

    test('makes a key unknown when it lets it go', async () => {
      const idempotency = { key: 'k', fingerprint: 'a' };
      await store.commit(ann.name, [{ verb: 'createTask', args: createArgs(), idempotency }]);

      now += 24 * HOUR_MS - 1;
      expect(await store.hasKey(ann.name, 'k')).toBe(true);
      now += 1;
      expect(await store.hasKey(ann.name, 'k')).toBe(false);
    });

    test('keeps a fresh key while it drops old ones', async () => {
      const create = (key: string) => ({
        verb: 'createTask' as const,
        args: createArgs(),
        idempotency: { key, fingerprint: 'a' },
      });
      await store.commit(ann.name, [create('old')]);
      now += 20 * HOUR_MS;
      await store.commit(ann.name, [create('fresh')]);
      now += 10 * HOUR_MS;
      await store.commit(ann.name, [create('new')]);

      const { outcomes } = await store.commit(ann.name, [create('fresh'), create('old')]);

      expect(outcomes.map((outcome) => outcome.ok && outcome.replayed)).toEqual([true, false]);
    });

    test('makes questions, timers and deadlines due, the earliest first', async () => {
      const task = await ann.start({ timeoutMs: 3_000 });
      const sleeper = await ann.start();
      await ann.sleep(sleeper, 'nap', 1_000);
      const question = await ann.ask(sleeper, 'month', 2_000);
      await ann.ask(sleeper, 'never', null);
      const start = now;
      const [timerItem, questionItem, deadlineItem] = [
        { owner: ann.name, kind: 'timer', taskId: sleeper.id, key: 'nap' },
        { owner: ann.name, kind: 'question', questionId: question.id },
        { owner: ann.name, kind: 'deadline', taskId: task.id, fence: 1, timeoutMs: 3_000 },
      ];

      expect(await store.nextDueAt()).toBe(start + 1_000);
      now = start + 999;
      expect(await store.due(10)).toEqual([]);
      now = start + 1_000;
      expect(await store.due(10)).toEqual([timerItem]);
      now = start + 3_000;
      expect(await store.due(10)).toEqual([timerItem, questionItem, deadlineItem]);
      expect(await store.due(2)).toEqual([timerItem, questionItem]);
    });

    test('makes a delayed task due, and offers it once it is declared ready', async () => {
      const { id: taskId } = await ann.create({ runAt: now + 2_000 });
      const ready = () => store.commit(ann.name, [{ verb: 'readyTask', args: { taskId } }]);
      expect(await store.nextDueAt()).toBe(now + 2_000);
      expect((await ready()).outcomes[0]).toMatchObject({ ok: false, code: 'not_due' });
      expect(await store.claimable(10)).toEqual([]);

      now += 2_000;
      expect(await store.due(10)).toEqual([{ owner: ann.name, kind: 'ready', taskId }]);
      await ready();

      expect(await store.claimable(10)).toMatchObject([{ taskId }]);
      expect(await store.due(10)).toEqual([]);
      expect(await store.nextDueAt()).toBeNull();
    });

    test('makes the next attempt of a failed task due', async () => {
      const task = await ann.start({ maxAttempts: 2 });
      const { runAt } = await ann.fail(task, { jitter: 1 });
      expect(runAt).toBeGreaterThan(now);
      expect(await store.nextDueAt()).toBe(runAt);

      now = (runAt ?? 0) - 1;
      expect(await store.due(10)).toEqual([]);
      now += 1;
      expect(await store.due(10)).toEqual([{ owner: ann.name, kind: 'ready', taskId: task.id }]);
    });

    test('has nothing due once it is done', async () => {
      expect(await store.nextDueAt()).toBeNull();
      const task = await ann.start();
      await ann.sleep(task, 'nap', 1_000);
      const question = await ann.ask(task, 'month', 2_000);
      await ann.wait(task, ['nap', 'month']);
      expect(await store.nextDueAt()).toBe(now + 1_000);

      now += 1_000;
      const { outcomes, resolutions } = await store.commit(ann.name, [
        { verb: 'fireTimer', args: { taskId: task.id, key: 'nap' } },
        { verb: 'fireTimer', args: { taskId: task.id, key: 'nap' } },
      ]);
      await ann.answer(question.id);

      expect(outcomes.map(({ ok }) => ok)).toEqual([true, false]);
      expect(resolutions).toMatchObject([{ taskId: task.id, key: 'nap', status: 'done' }]);
      expect(await store.nextDueAt()).toBeNull();
      now += 1e9;
      expect(await store.due(10)).toEqual([]);
    });

    test('counts for a deadline only while a task runs', async () => {
      const task = await ann.start({ timeoutMs: 5_000 });
      const question = await ann.ask(task, 'month');
      now += 2_000;
      await ann.wait(task, ['month']);
      expect(await store.nextDueAt()).toBeNull();

      now += HOUR_MS;
      await ann.answer(question.id);
      await ann.claim(task.id);

      expect(await store.nextDueAt()).toBe(now + 3_000);
      now += 3_000;
      expect(await store.due(10)).toMatchObject([{ kind: 'deadline', fence: 2 }]);
    });

    test('refuses an answer after the deadline even when nobody has expired the question', async () => {
      const task = await ann.start();
      const question = await ann.ask(task, 'month', 1_000);
      now += 1_000;

      const outcome = await ann.answer(question.id);

      expect(outcome).toMatchObject({ ok: false, code: 'question_resolved' });
      expect((await store.question(ann.name, question.id))?.resolution).toEqual({ status: 'expired', at: now });
    });

    test('lets the events of what ended long ago be pruned, and leaves marks', async () => {
      const old = await ann.start();
      const open = await ann.start();
      await ann.append(old);
      await ann.finish(old);
      now += 10_000;
      const recent = await ann.start();
      await ann.finish(recent);

      expect(await store.prunable(5_000, 10)).toEqual([{ owner: ann.name, taskId: old.id }]);
      expect(await store.prunable(10_000, 10)).toEqual([]);
      expect(await ann.prune(recent.id, 5_000)).toMatchObject({ ok: false });
      expect(await ann.prune(old.id, 5_000)).toMatchObject({ ok: true });

      expect(await ann.seqs()).toEqual([3, 4, 7, 8, 9]);
      expect(await store.log(ann.name)).toMatchObject({ head: 9, prunedSeq: 6 });
      expect(await store.task(ann.name, old.id)).toMatchObject({ prunedSeq: 6, output: 'done' });
      expect(await store.task(ann.name, open.id)).toMatchObject({ prunedSeq: 0 });
      expect(await store.prunable(5_000, 10)).toEqual([]);
    });
  });
}
