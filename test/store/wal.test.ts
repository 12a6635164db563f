import { statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createHub } from '../../src/engine/hub.ts';
import { databaseFile } from '../../src/store/sqlite/connection.ts';
import { openSqliteStore, openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { LOG, openReader, turn } from '../engine/published-store.ts';
import { newDirectory } from '../support/store-directory.ts';
import { noteEvents, Owner } from '../support/store-owner.ts';

const COMMITS = 60;
const EVENTS_PER_COMMIT = 8;
const EVENT = JSON.stringify('x'.repeat(50_000));

/** A checkpoint is due at 2,000 pages, and one more commit comes before it. */
const DUE_BYTES = 2_200 * 4_120;

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
  return Array.from({ length: 3 }, () => openReader({ store, hub }, LOG, { from: '0', full: true }));
}

/** @returns the size of the WAL after each commit */
async function commitMuch(store: Store, dir: string): Promise<number[]> {
  const ann = new Owner(store, 'ann');
  const task = await ann.start();
  const sizes: number[] = [];
  for (let n = 0; n < COMMITS; n++) {
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
  const ann = new Owner(store, 'ann');
  let stopped = false;
  let pages = 0;
  const reading = (async () => {
    for (let after = 0; !stopped; pages++) {
      const { scannedTo } = store.snapshot(() => ann.read({ after }));
      after = scannedTo >= store.log('ann').head ? 0 : scannedTo;
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
