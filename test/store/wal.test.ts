import { statSync } from 'node:fs';
import SqliteDatabase from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { createHub } from '../../src/engine/hub.ts';
import { databaseFile } from '../../src/store/sqlite/connection.ts';
import { openSqliteStore, openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { LOG, openReader, turn } from '../engine/published-store.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { newDirectory } from '../support/store-directory.ts';
import { noteEvents, Owner } from '../support/store-owner.ts';

const COMMITS = 60;
const EVENTS_PER_COMMIT = 8;
const EVENT = JSON.stringify('x'.repeat(50_000));

/** A checkpoint is due at 2,000 pages, and one more commit comes before it. */
const DUE_BYTES = 2_200 * 4_120;
const MIB = 1024 * 1024;
/** What is left of a WAL that has been larger. */
const KEPT_BYTES = 32 * MIB;
/** Of 400 KB each. */
const HELD_COMMITS = 100;

const SMALL_DISK_BYTES = 4 * MIB;
const SMALL_COMMITS = 400;
const mustRun = process.env.CI === 'true';

/** docs/decisions/003-group-commit.md: no read transaction is held across an `await`. */
describe('The WAL', () => {
  test('stays bounded under readers that stand still in the middle of the log', async () => {
    const dir = newDirectory();
    const store = openSqliteStoreInProcess({ dir });
    const readers = await openPaused(store);

    const sizes = await commitMuch(store, dir);

    for (const reader of readers) {
      expect(reader.calls).toBe(1);
      reader.tail.close();
    }
    expect(Math.max(...sizes)).toBeLessThan(DUE_BYTES);
    await store.close();
  });

  test('stays bounded under readers that never rest, while its thread writes', async () => {
    const dir = newDirectory();
    const store = await openSqliteStore({ dir });
    const readers = await openPaused(store);
    const loops = Array.from({ length: 4 }, () => readForEver(store));

    const sizes = await commitMuch(store, dir);

    const pages = await Promise.all(loops.map((loop) => loop.stop()));
    for (const { tail } of readers) tail.close();
    expect(Math.min(...pages)).toBeGreaterThan(COMMITS);
    expect(Math.max(...sizes)).toBeLessThan(DUE_BYTES);
    await store.close();
  });

  test('grows while another program reads on, which is told with each doubling, and shrinks when that is over', async () => {
    const dir = newDirectory();
    const store = await openSqliteStore({ dir });
    const told: number[] = [];
    store.watch({
      onFailed: (error) => expect.unreachable(error.message),
      onLogHeld: (bytes) => told.push(bytes),
      onForeign: () => expect.unreachable(),
    });
    await commitMuch(store, dir, 1);
    const backup = new SqliteDatabase(databaseFile(dir), { readonly: true });
    backup.exec('begin');
    backup.prepare('select count(*) from event').get();

    const held = await commitMuch(store, dir, HELD_COMMITS);
    backup.exec('commit');
    const after = await commitMuch(store, dir, COMMITS);

    expect(held.at(-1)).toBeGreaterThan(KEPT_BYTES);
    expect(after.at(-1)).toBeLessThanOrEqual(KEPT_BYTES);
    backup.close();
    await store.close();
    expect(told.map((bytes) => Math.floor(Math.log2(bytes / MIB)))).toEqual([4, 5]);
    expect(statSync(`${databaseFile(dir)}-wal`).size).toBe(0);
  });

  test('is moved before it fills a small disk, on which it could not be moved any more', async ({ skip }) => {
    const disk = mountSmallDisk(SMALL_DISK_BYTES);
    if (disk === null) return mustRun ? expect.unreachable('no right to mount') : skip('Only root may mount a tmpfs.');
    const store = openSqliteStoreInProcess({ dir: disk.dir });
    try {
      const ann = new Owner(store, 'ann');
      const task = await ann.start();
      let written = 0;

      // Each rewrites the same few pages: the log of it all is many times as large as what it comes to.
      for (let n = 0; n < SMALL_COMMITS; n++) {
        await ann.append(task, noteEvents(task.id, 1));
        written = Math.max(written, statSync(`${databaseFile(disk.dir)}-wal`).size);
      }

      expect((await store.log('ann')).head).toBeGreaterThan(SMALL_COMMITS);
      expect(written).toBeGreaterThan(SMALL_DISK_BYTES / 4);
    } finally {
      await store.close();
      disk.unmount();
    }
  });
});

/** Tails that have been told one page, and whose readers take no more. */
async function openPaused(store: Store) {
  const ann = new Owner(store, 'ann');
  const task = await ann.start();
  await ann.append(
    task,
    noteEvents(task.id, 8, () => EVENT),
  );
  const hub = createHub();
  return Promise.all(Array.from({ length: 3 }, () => openReader({ store, hub }, LOG, { from: '0', full: true })));
}

/** @returns the size of the WAL after each commit */
async function commitMuch(store: Store, dir: string, commits = COMMITS): Promise<number[]> {
  const ann = new Owner(store, 'ann');
  const task = await ann.start();
  const sizes: number[] = [];
  for (let n = 0; n < commits; n++) {
    await ann.append(
      task,
      noteEvents(task.id, EVENTS_PER_COMMIT, () => EVENT),
    );
    sizes.push(statSync(`${databaseFile(dir)}-wal`).size);
  }
  return sizes;
}

/** Reads the log from its beginning to its end, again and again, a page in each turn of the event loop. */
function readForEver(store: Store): { stop(): Promise<number> } {
  let stopped = false;
  let pages = 0;
  const reading = (async () => {
    for (let after = 0; !stopped; pages++) {
      const query = { scope: { kind: 'log' }, after, upTo: null, unfinishedAt: null, limit: 200 } as const;
      const [{ scannedTo }, { head }] = await store.snapshot((reads) =>
        Promise.all([reads.readEvents('ann', query), reads.log('ann')]),
      );
      await store.listTasks('ann', { limit: 200, order: 'desc' });
      after = scannedTo >= head ? 0 : scannedTo;
      await turn();
    }
  })();
  return {
    async stop() {
      stopped = true;
      await reading;
      return pages;
    },
  };
}
