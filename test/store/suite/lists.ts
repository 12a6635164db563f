import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { newId, Owner } from '../../support/store-owner.ts';

export function testLists(store: () => Store): void {
  describe('listing tasks', () => {
    test('pages through all, newest first, each once', async () => {
      const ann = new Owner(store());
      const created: string[] = [];
      for (let i = 0; i < 7; i++) created.push((await ann.create()).id);
      await ann.claim(created[2] ?? '');

      const seen: string[] = [];
      for (const size of [3, 3, 1]) {
        const after = seen.at(-1);
        const page = await store().listTasks(ann.name, { limit: 3, order: 'desc', ...(after && { after }) });
        expect(page).toHaveLength(size);
        seen.push(...page.map(({ id }) => id));
      }

      expect(seen).toEqual(created.toReversed());
      expect(await store().listTasks(ann.name, { limit: 3, order: 'desc', after: created[0] ?? '' })).toEqual([]);
    });

    test('goes the other way when asked', async () => {
      const ann = new Owner(store());
      const [first, second, third] = [await ann.create(), await ann.create(), await ann.create()];

      const page = await store().listTasks(ann.name, { limit: 5, order: 'asc', after: first.id });

      expect(page).toEqual([second, third]);
    });

    test('keeps to the statuses and the agent that are wanted', async () => {
      const ann = new Owner(store());
      const queued = await ann.create({ agent: 'writer' });
      const running = await ann.start();
      const done = await ann.finish(await ann.start({ agent: 'writer' }));

      const list = async (filter: object) =>
        (await store().listTasks(ann.name, { limit: 50, order: 'asc', ...filter })).map(({ id }) => id);

      expect(await list({ status: ['running'] })).toEqual([running.id]);
      expect(await list({ status: ['completed', 'queued'] })).toEqual([queued.id, done.id]);
      expect(await list({ agent: 'writer' })).toEqual([queued.id, done.id]);
      expect(await list({ agent: 'writer', status: ['completed'] })).toEqual([done.id]);
      expect(await list({ status: [] })).toEqual([]);
    });
  });

  describe('listing questions', () => {
    test('shows the oldest first and pages by the last one', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      const [first, second, third] = [await ann.ask(task, 'a'), await ann.ask(task, 'b'), await ann.ask(task, 'c')];

      expect(await store().listQuestions(ann.name, { limit: 2 })).toEqual([first, second]);
      expect(await store().listQuestions(ann.name, { limit: 2, after: second.id })).toEqual([third]);
    });

    test('keeps to the status and the task that are wanted', async () => {
      const ann = new Owner(store());
      const [task, other] = [await ann.start(), await ann.start()];
      const [answered, pending, foreign] = [
        await ann.ask(task, 'a'),
        await ann.ask(task, 'b'),
        await ann.ask(other, 'a'),
      ];
      await ann.answer(answered.id);

      const list = async (filter: object) =>
        (await store().listQuestions(ann.name, { limit: 50, ...filter })).map(({ id }) => id);

      expect(await list({ status: 'pending' })).toEqual([pending.id, foreign.id]);
      expect(await list({ taskId: task.id })).toEqual([answered.id, pending.id]);
      expect(await list({ taskId: task.id, status: 'answered' })).toEqual([answered.id]);
      expect(await list({ status: 'expired' })).toEqual([]);
    });

    test('gives every way to be resolved back as it was written', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      const asked = [];
      for (const key of ['a', 'b', 'c', 'd']) asked.push((await ann.ask(task, key, key === 'c' ? 0 : null)).id);
      const [answered = '', declined = '', expired = '', withdrawn = ''] = asked;
      const { id: taskId, fence } = task;

      await ann.answer(answered);
      const { now } = await store().commit(ann.name, [
        { verb: 'declineQuestion', args: { questionId: declined, reason: null, resolvedBy: 'ann' } },
        { verb: 'expireQuestion', args: { questionId: expired } },
        { verb: 'withdrawQuestion', args: { taskId, fence, key: 'd', askedAt: 0 } },
      ]);

      expect((await store().question(ann.name, answered))?.resolution).toMatchObject({
        status: 'answered',
        answers: { month: 'June' },
        resolvedBy: ann.name,
      });
      const others = await Promise.all([declined, expired, withdrawn].map((id) => store().question(ann.name, id)));
      expect(others.map((question) => question?.resolution)).toEqual([
        { status: 'declined', at: now, reason: null, resolvedBy: 'ann' },
        { status: 'expired', at: now },
        { status: 'cancelled', at: now, reason: 'withdrawn' },
      ]);
    });
  });

  describe('another owner', () => {
    test('finds nothing, whatever is asked for', async () => {
      const [ann, ben] = [new Owner(store()), new Owner(store())];
      const task = await ann.start();
      const question = await ann.ask(task, 'month');

      expect(await store().task(ben.name, task.id)).toBeNull();
      expect(await store().question(ben.name, question.id)).toBeNull();
      expect(await store().listTasks(ben.name, { limit: 9, order: 'desc' })).toEqual([]);
      expect(await store().listTasks(ben.name, { limit: 9, order: 'desc', after: task.id })).toEqual([]);
      expect(await store().listQuestions(ben.name, { limit: 9, taskId: task.id })).toEqual([]);
      expect(await store().log(ben.name)).toEqual({ head: 0, prunedSeq: 0, epochs: [] });
      expect(await store().unfinishedFrom(ben.name)).toBeNull();
    });

    test('changes nothing, whatever is tried', async () => {
      const [ann, ben] = [new Owner(store()), new Owner(store())];
      const task = await ann.start();
      const question = await ann.ask(task, 'month');
      const { id: taskId, fence } = task;
      await ben.create();

      const { outcomes } = await store().commit(ben.name, [
        { verb: 'cancelTask', args: { taskId, reason: null } },
        { verb: 'answerQuestion', args: { questionId: question.id, given: { answer: 'x' }, resolvedBy: 'ben' } },
        { verb: 'finishTask', args: { taskId, fence, output: null } },
      ]);

      expect(outcomes.map((outcome) => outcome.ok)).toEqual([false, false, false]);
      expect(await store().task(ann.name, taskId)).toMatchObject({ status: 'running', pendingQuestionCount: 1 });
    });

    test('may have a task under the same id', async () => {
      const [ann, ben] = [new Owner(store()), new Owner(store())];
      const taskId = newId('task');

      await ann.start({ taskId });
      await ben.create({ taskId });

      expect(await store().task(ann.name, taskId)).toMatchObject({ owner: ann.name, status: 'running' });
      expect(await store().task(ben.name, taskId)).toMatchObject({ owner: ben.name, status: 'queued' });
    });
  });
}
