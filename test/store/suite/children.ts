import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { noteEvents, Owner } from '../../support/store-owner.ts';

export function testChildren(store: () => Store): void {
  describe('a tree of tasks', () => {
    /** Six events: each of the three was created and started. */
    const plant = async () => {
      const ann = new Owner(store());
      const root = await ann.start();
      const child = await ann.claim((await ann.spawn(root, 'fetch')).id);
      const grandchild = await ann.claim((await ann.spawn(child, 'parse')).id);
      return { ann, root, child, grandchild };
    };

    test('ends as a whole, with its questions, the deepest first', async () => {
      const { ann, root, child, grandchild } = await plant();
      const question = await ann.ask(grandchild, 'month', 1_000);

      const { events } = await store().commit(ann.name, [
        { verb: 'cancelTask', args: { taskId: root.id, reason: null } },
      ]);

      expect(events.map(({ type, taskId }) => [type, taskId])).toEqual([
        ['question.cancelled', grandchild.id],
        ['task.cancelled', grandchild.id],
        ['task.cancelled', child.id],
        ['task.cancelled', root.id],
      ]);
      expect((await store().question(ann.name, question.id))?.resolution).toMatchObject({ status: 'cancelled' });
    });

    test('leaves nothing due when it has ended', async () => {
      const { ann, root, child, grandchild } = await plant();
      for (const task of [root, child, grandchild]) await ann.sleep(task, 'nap', 0);
      const dueHere = async () => (await store().due(1_000)).filter(({ owner }) => owner === ann.name);
      expect((await dueHere()).map(({ kind }) => kind)).toEqual(['timer', 'timer', 'timer']);

      await ann.cancel(root.id);

      expect(await dueHere()).toEqual([]);
    });

    test('tells the parent what came of a child, and wakes it', async () => {
      const { ann, root, child, grandchild } = await plant();
      await ann.wait(root, ['fetch>']);
      await ann.cancel(grandchild.id);

      await ann.finish(child);

      expect(await ann.task(root.id)).toMatchObject({ status: 'queued', ord: 2 });
      const { rows } = await ann.replay(root.id);
      expect(rows).toMatchObject([
        { key: 'fetch', kind: 'spawn', status: 'done', ord: 1, value: JSON.stringify(child.id) },
        { key: 'fetch>', kind: 'child', status: 'completed', ord: 2, value: '{"status":"completed","output":"done"}' },
      ]);
    });

    test('keeps what its tasks had begun to say when it is cancelled', async () => {
      const { ann, root, grandchild } = await plant();
      await ann.begin(grandchild, 'plan', { messageId: 'msg_1' });
      await ann.append(root);
      const delta = (messageId: string, text: string) => ({
        taskId: grandchild.id,
        conversationId: null,
        type: 'message.delta',
        step: '{"name":"plan","attempt":1}',
        data: JSON.stringify({ messageId, text }),
      });
      await ann.append(grandchild, [delta('msg_1', 'One '), delta('msg_2', 'no ')]);
      await ann.append(grandchild, [delta('msg_1', '“two” 🦊')]);

      await ann.cancel(root.id);

      const said = (await ann.read()).events.filter(({ type }) => type === 'message.completed');
      expect(said.map(({ data }) => JSON.parse(data).message)).toMatchObject([
        { id: 'msg_1', content: 'One “two” 🦊', status: 'partial' },
      ]);
    });

    test('is one stream under its root, and one for each child', async () => {
      const { ann, root, child, grandchild } = await plant();
      await ann.append(child);
      await ann.append(root);
      await ann.append(grandchild);
      await ann.start();
      const scope = (taskId: string) => ({ scope: { kind: 'child', taskId, rootId: root.id } }) as const;

      expect(await ann.seqs({ scope: { kind: 'root', taskId: root.id } })).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(await ann.seqs(scope(child.id))).toEqual([3, 4, 7]);
      expect(await ann.seqs(scope(grandchild.id))).toEqual([5, 6, 9]);
      expect((await ann.read(scope(child.id))).scannedTo).toBe(11);
    });

    test("moves its root's newest seq with every event in it", async () => {
      const { ann, root, grandchild } = await plant();

      await ann.append(grandchild, noteEvents(grandchild.id, 3));

      expect(await ann.task(root.id)).toMatchObject({ firstSeq: 1, lastSeq: 9 });
      expect(await ann.task(grandchild.id)).toMatchObject({ firstSeq: 5, lastSeq: 9 });
    });

    test('is retold and pruned as its root is', async () => {
      const { ann, root, child } = await plant();
      await ann.append(child);
      const middle = (await store().log(ann.name)).head;
      expect(await ann.seqs({ unfinishedAt: middle })).toEqual([1, 2, 3, 4, 5, 6, 7]);
      await ann.cancel(root.id);
      const { head } = await store().log(ann.name);

      expect(await ann.seqs({ unfinishedAt: middle })).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      expect(await ann.seqs({ unfinishedAt: head })).toEqual([]);
      await ann.later();
      expect(await store().prunable(0, 1_000)).toContainEqual({ owner: ann.name, taskId: root.id });
      await ann.prune(root.id);
      expect(await ann.seqs()).toEqual([]);
      expect(await store().log(ann.name)).toMatchObject({ head, prunedSeq: head });
    });
  });
}
