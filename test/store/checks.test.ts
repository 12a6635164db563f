import type { Database } from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseFile, openConnection } from '../../src/store/sqlite/connection.ts';
import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { newDirectory } from '../support/store-directory.ts';
import { Owner } from '../support/store-owner.ts';

describe('the row of a task', () => {
  let store: Store;
  let db: Database;
  beforeAll(async () => {
    const dir = newDirectory();
    store = openSqliteStoreInProcess({ dir });
    db = openConnection(databaseFile(dir), 'write');
    const ann = new Owner(store, 'ann');
    await ann.create();
    await ann.start();
    const waiting = await ann.start();
    await ann.sleep(waiting, 'nap', 60_000);
    await ann.wait(waiting, ['nap']);
    await ann.finish(await ann.start());
    await ann.fail(await ann.start());
  });
  afterAll(async () => {
    db.close();
    await store.close();
  });

  test.each([
    ['running', 'held = 0'],
    ['waiting', 'held = 1'],
    ['queued', 'held = 1'],
    ['running', 'run_at = 5'],
    ['completed', 'run_at = 5'],
    ['running', 'begins = 1'],
    ['completed', 'begins = 1'],
    ['queued', 'begins = 0'],
    ['queued', 'failures = 1'],
    ['failed', 'failures = 2'],
    ['queued', "lane = 'key a', blocked = 1, run_at = 5"],
    ['queued', 'blocked = 1'],
    ['completed', "cut = '{}'"],
    ['queued', "spawn_key = 'a'"],
    ['queued', 'depth = 1'],
    ['queued', "parent_id = 'task_1', depth = 1, spawn_key = 'a'"],
    ['running', 'emits = -1'],
    ['running', 'crashes = -1'],
  ])('refuses of one that is %s: %s', (status, change) => {
    const update = db.prepare(`update task set ${change} where status = ?`);

    expect(() => update.run(status)).toThrow('CHECK constraint failed: task_');
  });

  test.each([
    ['queued', 'run_at = 5'],
    ['queued', "lane = 'key a', blocked = 1"],
    ['failed', "failures = 1, cut = '{}', held = 1"],
    ['completed', 'held = 1'],
    ['running', 'crashes = 3, crash_mark = 2, alone_crashes = 1'],
  ])('takes of one that is %s: %s', (status, change) => {
    const update = db.prepare(`update task set ${change} where status = ?`);

    expect(update.run(status).changes).toBe(1);
    db.exec("update task set run_at = null, lane = null, blocked = 0 where status = 'queued'");
  });
});
