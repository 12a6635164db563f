import { describe, expect, test } from 'vitest';
import type { JournalRow } from '../../../src/model/journal.ts';
import type { TaskRecord } from '../../../src/model/task.ts';
import type { Store } from '../../../src/store/store.ts';
import { newId, Owner, resultOf } from '../../support/store-owner.ts';

const FAILURE = JSON.stringify({ name: 'Error', message: 'No “way” 🦊', fields: { code: 'E_NO' }, cause: null });
const ERROR = { code: 'agent_error', message: 'No way.' } as const;

export function testJournals(store: () => Store): void {
  describe('a journal', () => {
    /** As a new copy would be given it, after its worker was lost. */
    const replay = async (ann: Owner, task: TaskRecord) => {
      await ann.requeue(await ann.task(task.id), 'worker_lost');
      return ann.replay(task.id);
    };

    test('comes back as it was written, whatever is in it', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      await ann.append(task);
      await ann.step(task, 'flights', '{"to":["Köln","\\u0000🦊"]}');
      await ann.begin(task, 'hotel');
      const failed = { status: 'failed', error: ERROR, failure: FAILURE, retryInMs: null } as const;
      await ann.settle(task, 'hotel', { outcome: failed });
      await ann.begin(task, 'pay', { once: true, askedAt: 2 });
      await ann.answer((await ann.ask(task, 'month')).id);
      await ann.ask(task, 'month#2');
      await ann.sleep(task, 'nap', 60_000);
      await ann.send(task.id, { text: 'hi' });
      await ann.takeInbox(task);
      const child = await ann.spawn(task, 'car');

      const { task: claimed, rows } = await replay(ann, task);

      const reply = { status: 'answered', answers: { month: 'June' }, resolvedBy: ann.name };
      const base = { taskId: task.id, askedAt: 0, tries: 0, once: false, dueAt: null, message: null };
      const pending = { ...base, status: 'pending', value: null, ord: null, emitsDone: null, at: null };
      const at = expect.any(Number);
      const done = { ...base, emitsDone: 1, at, status: 'done' };
      const expected = [
        { ...done, key: 'car', kind: 'spawn', value: JSON.stringify(child.id), ord: 5 },
        { ...pending, key: 'car>', kind: 'child' },
        { ...done, key: 'flights', kind: 'step', value: '{"to":["Köln","\\u0000🦊"]}', ord: 1, tries: 1 },
        { ...done, key: 'hotel', kind: 'step', status: 'failed', value: FAILURE, ord: 2, tries: 1 },
        { ...done, key: 'inbox', kind: 'inbox', value: '[{"text":"hi"}]', ord: 4 },
        { ...done, key: 'month', kind: 'ask', status: 'answered', value: JSON.stringify(reply), ord: 3 },
        { ...pending, key: 'month#2', kind: 'ask' },
        { ...pending, key: 'nap', kind: 'sleep', dueAt: at },
        { ...pending, key: 'pay', kind: 'step', askedAt: 2, tries: 1, once: true },
      ];
      expect(rows.toSorted((a, b) => (a.key < b.key ? -1 : 1))).toEqual(expected);
      expect(claimed).toMatchObject({ ord: 5, emits: 1, inbox: [] });
      expect(await ann.task(task.id)).toEqual(claimed);
    });

    test('keeps values of megabytes', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      const value = JSON.stringify(`"naïve" 🦊\n`.repeat(150_000));

      await ann.step(task, 'page', value);
      await ann.step(task, 'page#2', '"small"');

      const { rows } = await replay(ann, task);
      expect(rows.map(({ key }) => key)).toEqual(['page', 'page#2']);
      expect(rows[0]?.value === value).toBe(true);
    });

    test('takes only one resolution of a key', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      await ann.step(task, 'flights', '1');

      await ann.settle(task, 'flights', { outcome: { status: 'completed', value: '2' } });

      const { rows } = await replay(ann, task);
      expect(rows).toMatchObject([{ value: '1', ord: 1 }]);
      expect(await ann.task(task.id)).toMatchObject({ ord: 1 });
    });

    test('forgets a message that was discarded', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      await ann.begin(task, 'plan', { messageId: 'msg_1' });
      await replay(ann, task);

      await replay(ann, task);

      const types = (await ann.read()).events.map(({ type }) => type);
      expect(types.filter((type) => type === 'message.discarded')).toHaveLength(1);
    });

    test('is taken back to before a failure, and its places are given again', async () => {
      const ann = new Owner(store());
      const task = await ann.start({ maxAttempts: 2 });
      await ann.step(task, 'flights');
      await ann.step(task, 'hotel', '1');
      await ann.begin(task, 'refund', { once: true, askedAt: 2 });
      await ann.send(task.id, 'hi');
      await ann.takeInbox(task);
      const cut = { keys: ['hotel'], askedAt: 1, ord: 2, emits: 0 };

      await ann.fail(task, { cut: { ...cut, keys: ['hotel', 'inbox'] } });

      const { task: second, rows } = await ann.replay(task.id);
      expect(rows.map(({ key }) => key)).toEqual(['flights']);
      expect(second).toMatchObject({ attempt: 2, failures: 1, ord: 1, marks: ['refund'], inbox: ['hi'] });
      await ann.step(second, 'hotel', '2');
      const again = await replay(ann, second);
      expect(again.rows).toMatchObject([
        { key: 'flights', ord: 1 },
        { key: 'hotel', ord: 2, value: '2' },
      ]);
    });

    test('goes along to a retry, and stays where it was', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      await ann.step(task, 'flights', '"LH 1"');
      const cut = { keys: [], askedAt: 5, ord: 9, emits: 0 };
      const failed = await ann.fail(task, { cut });
      expect(await ann.task(task.id)).toEqual(failed);

      const args = { taskId: task.id, newTaskId: newId('task') };
      const { outcomes } = await store().commit(ann.name, [
        { verb: 'retryTask', args },
        { verb: 'retryTask', args: { ...args, newTaskId: newId('task') } },
      ]);

      expect(failed.cut).toEqual(cut);
      for (const outcome of outcomes) {
        const { task: retried } = resultOf(outcome);
        expect(retried).toMatchObject({ retryOf: task.id, seed: task.seed, originAt: task.originAt, ord: 1 });
        expect(await ann.task(retried.id)).toEqual(retried);
        const { rows } = await ann.replay(retried.id);
        expect(rows).toMatchObject([
          { taskId: retried.id, key: 'flights', value: '"LH 1"' } satisfies Partial<JournalRow>,
        ]);
      }
    });
  });
}
