import type { Database } from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { databaseFile, openConnection } from '../../src/store/sqlite/connection.ts';
import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { newDirectory } from '../support/store-directory.ts';
import { Owner } from '../support/store-owner.ts';

describe('the table of journals', () => {
  let store: Store;
  let db: Database;
  let ann: Owner;
  beforeEach(() => {
    const dir = newDirectory();
    store = openSqliteStoreInProcess({ dir });
    db = openConnection(databaseFile(dir), 'write');
    ann = new Owner(store, 'ann');
  });
  afterEach(async () => {
    db.close();
    await store.close();
  });

  test('holds nothing of a tree whose events are pruned, and all of any other', async () => {
    const [root, other] = [await ann.start(), await ann.start()];
    const child = await ann.claim((await ann.spawn(root, 'fetch')).id);
    const grandchild = await ann.claim((await ann.spawn(child, 'parse')).id);
    for (const task of [root, child, grandchild, other]) await ann.step(task, 'flights');
    for (const { id } of [root, other]) await ann.cancel(id);

    await ann.prune(root.id);

    const left = db.prepare('select task.id, journal.key from journal join task on task.key = journal.task').all();
    expect(left).toEqual([{ id: other.id, key: 'flights' }]);
  });

  test('writes no page of a value that stays', async () => {
    const task = await ann.start({ maxAttempts: 2 });
    await ann.append(task);
    await ann.step(task, 'page', JSON.stringify('x'.repeat(500_000)));
    await ann.step(task, 'last');
    db.pragma('wal_checkpoint(truncate)');

    await ann.fail(task, { cut: { keys: ['last'], askedAt: 0, ord: 2, emits: 0 } });

    const [{ log: pages } = { log: 0 }] = db.pragma('wal_checkpoint(noop)') as { log: number }[];
    expect(db.prepare("select emits_done from journal where key = 'page'").pluck().get()).toBe(0);
    expect(pages).toBeLessThan(60);
  });

  const ROW = `task, key, kind, status, asked_at, ord, emits_done, at, tries, once, due_at, message_id, message_after_seq,
    value`;
  test.each([
    ['a status of another kind', `'a', 'ask', 'done', 0, 9, 0, 1, 0, 0, null, null, null, '1'`],
    ['an unknown kind', `'a', 'nap', 'pending', 0, null, null, null, 0, 0, null, null, null, null`],
    ['an inbox that waits', `'a', 'inbox', 'pending', 0, null, null, null, 0, 0, null, null, null, null`],
    ['a value of nothing', `'a', 'step', 'pending', 0, null, null, null, 1, 0, null, null, null, '1'`],
    ['a resolution without a value', `'a', 'step', 'done', 0, 9, 0, 1, 1, 0, null, null, null, null`],
    ['a resolution without a place', `'a', 'step', 'done', 0, null, null, null, 1, 0, null, null, null, '1'`],
    ['a place without a time', `'a', 'step', 'done', 0, 9, 0, null, 1, 0, null, null, null, '1'`],
    ['a place of a step that is pending', `'a', 'step', 'pending', 0, 9, 0, 1, 1, 0, null, null, null, null`],
    ['a step that is due', `'a', 'step', 'pending', 0, null, null, null, 1, 0, 5, null, null, null`],
    ['a sleep that is over and due', `'a', 'sleep', 'done', 0, 9, 0, 1, 0, 0, 5, null, null, 'null'`],
    ['a message of a step that is done', `'a', 'step', 'done', 0, 9, 0, 1, 1, 0, null, 'msg_1', 5, '1'`],
    ['a message from nowhere', `'a', 'step', 'pending', 0, null, null, null, 1, 0, null, 'msg_1', null, null`],
    ['a sleep that has been tried', `'a', 'sleep', 'pending', 0, null, null, null, 1, 0, 5, null, null, null`],
    ['a child under the key of a step', `'a', 'child', 'pending', 0, null, null, null, 0, 0, null, null, null, null`],
    ['a step under the key of a child', `'a>', 'step', 'pending', 0, null, null, null, 1, 0, null, null, null, null`],
    ['a place that is taken', `'a', 'step', 'done', 0, 1, 0, 1, 1, 0, null, null, null, '1'`],
  ])('refuses %s', async (_what, values) => {
    await ann.step(await ann.start(), 'flights');

    const insert = db.prepare(`insert into journal (${ROW}) values (1, ${values})`);

    expect(() => insert.run()).toThrow(
      /CHECK constraint failed: journal_|UNIQUE constraint failed: journal.task, journal.ord/,
    );
  });

  test('takes a spawn that is reopened, which keeps its place', async () => {
    await ann.step(await ann.start(), 'flights');

    db.exec(
      `insert into journal (${ROW}) values (1, 'a', 'spawn', 'pending', 0, 2, 0, 1, 0, 0, null, null, null, null)`,
    );

    const at = db.prepare("select ord from journal where key = 'a'").pluck().get();
    expect(at).toBe(2);
  });
});
