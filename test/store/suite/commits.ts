import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { createArgs, newId, noteEvents, Owner, resultOf } from '../../support/store-owner.ts';

export function testCommits(store: () => Store): void {
  describe('a commit', () => {
    test('numbers the events of an owner from 1 without a gap', async () => {
      const ann = new Owner(store());

      const task = await ann.start();
      const batch = await ann.append(task, noteEvents(task.id, 3));

      expect(batch.firstSeq).toBe(3);
      expect(batch.events.map(({ seq }) => seq)).toEqual([3, 4, 5]);
      expect(await ann.seqs()).toEqual([1, 2, 3, 4, 5]);
    });

    test('keeps every log dense under concurrent commits of several owners', async () => {
      const owners = Array.from({ length: 4 }, () => new Owner(store()));
      const tasks = await Promise.all(owners.map((owner) => owner.start()));

      await Promise.all(
        Array.from({ length: 60 }, (_, i) => i % 4).map((at) => {
          const [owner, task] = [owners[at], tasks[at]];
          return task && owner?.append(task, noteEvents(task.id, 1 + (at % 3)));
        }),
      );

      for (const [at, owner] of owners.entries()) {
        const head = 2 + 15 * (1 + (at % 3));
        expect(await owner.seqs()).toEqual(Array.from({ length: head }, (_, i) => i + 1));
        expect((await store().log(owner.name)).head).toBe(head);
      }
    });

    test('shows later verbs of a batch what earlier ones did', async () => {
      const ann = new Owner(store());
      const args = createArgs();

      const batch = await store().commit(ann.name, [
        { verb: 'createTask', args },
        { verb: 'claimTask', args: ann.claimArgs(args.taskId, { version: '7' }) },
        { verb: 'finishTask', args: { taskId: args.taskId, fence: 1, output: [1, 'é', null] } },
      ]);

      expect(batch.events.map(({ type }) => type)).toEqual(['task.created', 'task.started', 'task.completed']);
      expect(resultOf(batch.outcomes[2]).task).toEqual(await store().task(ann.name, args.taskId));
      expect(await store().task(ann.name, args.taskId)).toMatchObject({
        status: 'completed',
        version: '7',
        output: [1, 'é', null],
        firstSeq: 1,
        lastSeq: 3,
      });
    });

    test('can be read as soon as its promise resolves', async () => {
      const ann = new Owner(store());
      const task = await ann.start();

      const question = await ann.ask(task, 'month');

      expect(await store().question(ann.name, question.id)).toEqual(question);
      expect((await ann.read()).events.at(-1)).toMatchObject({ type: 'question.asked', taskId: task.id });
      expect(await store().task(ann.name, task.id)).toMatchObject({ pendingQuestionCount: 1, lastSeq: 3 });
    });

    test('writes nothing for a verb that refuses, and all of its neighbours in the batch', async () => {
      const ann = new Owner(store());
      const args = createArgs();

      const batch = await store().commit(ann.name, [
        { verb: 'cancelTask', args: { taskId: newId('task'), reason: null } },
        { verb: 'createTask', args },
      ]);

      expect(batch.outcomes[0]).toMatchObject({ ok: false, code: 'not_found' });
      expect(await ann.seqs()).toEqual([1]);
      expect(await store().task(ann.name, args.taskId)).toMatchObject({ status: 'queued' });
    });

    test('leaves no trace of an owner to whom everything was refused', async () => {
      const ann = new Owner(store());

      const batch = await store().commit(ann.name, [
        { verb: 'cancelTask', args: { taskId: newId('task'), reason: null } },
      ]);

      expect(batch).toMatchObject({ firstSeq: 1, events: [] });
      expect(await store().log(ann.name)).toEqual({ head: 0, prunedSeq: 0, epochs: [] });
    });

    test('writes all of it or nothing', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      const args = createArgs();

      const failing = store().commit(ann.name, [
        { verb: 'createTask', args },
        { verb: 'appendEvents', args: { taskId: task.id, fence: 1, after: 0, events: noteEvents(newId('task'), 2) } },
      ]);

      await expect(failing).rejects.toThrow('not loaded');
      expect(await store().task(ann.name, args.taskId)).toBeNull();
      expect(await ann.seqs()).toEqual([1, 2]);
    });

    test('that fails does no harm to those beside it', async () => {
      const [ann, ben] = [new Owner(store()), new Owner(store())];
      const task = await ann.start();
      const events = noteEvents(newId('task'), 1);

      const settled = await Promise.allSettled([
        ann.append(task),
        ann.append(task, events),
        ben.create(),
        ann.append(task),
      ]);

      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
      expect(await ann.seqs()).toEqual([1, 2, 3, 4]);
      expect(await ben.seqs()).toEqual([1]);
    });

    test("settles in the order of its owner's calls", async () => {
      const owners = [new Owner(store()), new Owner(store())];
      const settled: number[][] = [[], []];

      const commits = Array.from({ length: 20 }, (_, i) => i).map(async (i) => {
        const failing = i % 5 === 0 ? [{ verb: 'createTask', args: createArgs({ priority: 1000 }) } as const] : [];
        const commit = store().commit(owners[i % 2]?.name ?? '', [
          { verb: 'createTask', args: createArgs() },
          ...failing,
        ]);
        await commit.catch(() => {}).then(() => settled[i % 2]?.push(i));
      });
      await Promise.all(commits);

      expect(settled[0]).toEqual(Array.from({ length: 10 }, (_, i) => 2 * i));
      expect(settled[1]).toEqual(Array.from({ length: 10 }, (_, i) => 2 * i + 1));
    });

    test('gives back events as they will be read', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      const step = JSON.stringify({ name: 'plan', attempt: 2 });
      const event = {
        taskId: task.id,
        conversationId: null,
        type: 'note.taken',
        step,
        data: '{"text":"naïve 🦊 \\u0000"}',
      };

      const { events, now, epoch } = await ann.append(task, [event]);

      expect(events).toEqual([{ ...event, seq: 3, at: now, rootId: task.id }]);
      expect(epoch).toBe(store().epoch);
      expect((await store().log(ann.name)).epochs.at(-1)?.epoch).toBe(epoch);
    });

    test('says where the task of each call stood before it', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      await ann.step(task, 'plan');
      const { id: taskId, fence } = task;

      const { ords } = await store().commit(ann.name, [
        { verb: 'startTimer', args: { taskId, fence, key: 'nap', askedAt: 1, ms: 0 } },
        { verb: 'fireTimer', args: { taskId, key: 'nap' } },
        { verb: 'finishTask', args: { taskId, fence, output: null } },
        { verb: 'createTask', args: createArgs() },
        { verb: 'cancelTask', args: { taskId: newId('task'), reason: null } },
      ]);

      expect(ords).toEqual([1, 1, 2, null, null]);
    });

    test('keeps the name of who claimed a task', async () => {
      const ann = new Owner(store());
      const created = await ann.create();
      expect(created.node).toBeNull();

      const claimed = await ann.claim(created.id);

      expect(claimed.node).toBe(store().node);
      await ann.finish(claimed);
      expect((await ann.task(created.id)).node).toBe(store().node);
    });

    test('moves the newest seq of its task, and says when something falls due', async () => {
      const ann = new Owner(store());
      const [first, second] = [await ann.start(), await ann.start()];

      await ann.append(first, noteEvents(first.id, 2));
      const { dueAt, now } = await store().commit(ann.name, [
        { verb: 'startTimer', args: { taskId: second.id, fence: 1, key: 'nap', askedAt: 0, ms: 500 } },
      ]);

      expect(await store().task(ann.name, first.id)).toMatchObject({ firstSeq: 1, lastSeq: 6 });
      expect(await store().task(ann.name, second.id)).toMatchObject({ firstSeq: 3, lastSeq: 4 });
      expect(dueAt).toBe(now + 500);
    });
  });
}
