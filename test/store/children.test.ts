import { describe, expect, test } from 'vitest';
import { databaseFile, openConnection } from '../../src/store/sqlite/connection.ts';
import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import { newDirectory } from '../support/store-directory.ts';
import { newId, noteEvents, Owner } from '../support/store-owner.ts';

/** No verb makes children yet, so these are made of a root's row. */
function insertChild(dir: string, ofId: string, rootId: string): string {
  const db = openConnection(databaseFile(dir), 'write');
  const id = newId('task');
  const columns = `log, agent, status, blocked, attempt, fence, pending_question_count, priority, concurrency_key, version,
    timeout_ms, ran_ms, running_since, deadline_at, created_at, started_at, first_seq, last_seq, pruned_seq, metadata`;
  db.prepare(
    `insert into task (id, parent_id, root_id, ${columns}) select ?, ?, ?, ${columns} from task where id = ?`,
  ).run(id, ofId, rootId, rootId);
  db.close();
  return id;
}

describe('a tree of tasks', () => {
  const plant = async () => {
    const dir = newDirectory();
    const store = openSqliteStoreInProcess({ dir });
    const ann = new Owner(store, 'ann');
    const root = await ann.start();
    const child = store.task('ann', insertChild(dir, root.id, root.id)) ?? root;
    const grandchild = store.task('ann', insertChild(dir, child.id, root.id)) ?? root;
    return { store, ann, root, child, grandchild };
  };

  test('ends as a whole, with its questions and timers, the deepest first', async () => {
    const { store, ann, root, child, grandchild } = await plant();
    const question = await ann.ask(grandchild, 'month', 1_000);
    await ann.sleep(child, 'nap', 1_000);

    const { events } = await store.commit('ann', [{ verb: 'cancelTask', args: { taskId: root.id, reason: null } }]);

    expect(events.map(({ type, taskId }) => [type, taskId])).toEqual([
      ['question.cancelled', grandchild.id],
      ['task.cancelled', grandchild.id],
      ['task.cancelled', child.id],
      ['task.cancelled', root.id],
    ]);
    expect(store.question('ann', question.id)?.resolution).toMatchObject({ status: 'cancelled' });
    expect(store.nextDueAt()).toBeNull();
    await store.close();
  });

  test('is one stream under its root, and one for each child', async () => {
    const { store, ann, root, child, grandchild } = await plant();
    await ann.append(child, noteEvents(child.id, 1));
    await ann.append(root);
    await ann.append(grandchild);
    await ann.start();

    const scope = (taskId: string) => ({ scope: { kind: 'child', taskId, rootId: root.id } }) as const;

    expect(ann.seqs({ scope: { kind: 'root', taskId: root.id } })).toEqual([1, 2, 3, 4, 5]);
    expect(ann.seqs(scope(child.id))).toEqual([3]);
    expect(ann.seqs(scope(grandchild.id))).toEqual([5]);
    expect(ann.read(scope(child.id))).toMatchObject({ scannedTo: 7, events: [{ taskId: child.id, rootId: root.id }] });
    await store.close();
  });

  test("moves its root's newest seq with every event in it", async () => {
    const { store, ann, root, grandchild } = await plant();

    await ann.append(grandchild, noteEvents(grandchild.id, 3));

    expect(store.task('ann', root.id)).toMatchObject({ firstSeq: 1, lastSeq: 5 });
    expect(store.task('ann', grandchild.id)).toMatchObject({ lastSeq: 5 });
    await store.close();
  });

  test('is retold and pruned as its root is', async () => {
    const { store, ann, root, child } = await plant();
    await ann.append(child);
    const middle = store.log('ann').head;
    expect(ann.seqs({ unfinishedAt: middle })).toEqual([1, 2, 3]);
    await store.commit('ann', [{ verb: 'cancelTask', args: { taskId: root.id, reason: null } }]);
    const { head } = store.log('ann');

    expect(ann.seqs({ unfinishedAt: middle })).toEqual([1, 2, 3, 4, 5, 6]);
    expect(ann.seqs({ unfinishedAt: head })).toEqual([]);
    expect(store.prunable(Date.now() + 1_000, 10)).toEqual([{ owner: 'ann', taskId: root.id }]);
    await ann.prune(root.id);
    expect(ann.seqs()).toEqual([]);
    expect(store.log('ann')).toMatchObject({ head, prunedSeq: head });
    await store.close();
  });
});
