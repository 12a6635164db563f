import { randomBytes } from 'node:crypto';
import type { Batch } from '../../model/batch.ts';
import { formatEpoch } from '../../model/epoch.ts';
import type { Committed, Store, StoreWatcher } from '../store.ts';
import { databaseFile, migrateSchema, openConnection, prepareFile } from './connection.ts';
import { prepareDirectory } from './data-directory.ts';
import { lockDirectory } from './lock.ts';
import { createReads } from './reads.ts';
import { startRemoteWriter } from './remote.ts';
import { watchReads } from './watch-reads.ts';
import { createWriter, isFull, type Settled } from './writer.ts';

/**
 * Opens the store of a directory, which is made if it is missing, with its writer on a thread of its own.
 *
 * @throws StartRefusal when the directory or its database cannot be used
 */
export async function openSqliteStore({ dir }: { dir: string }): Promise<Store> {
  prepareDirectory(dir);
  const lock = lockDirectory(dir);
  try {
    prepareFile(dir);
    const db = openConnection(databaseFile(dir), 'read');
    let watcher = NOBODY;
    const watch = watchReads((error) => watcher.onFailed(error));
    const epoch = newEpoch();
    const onHeld = (bytes: number) => watcher.onLogHeld(bytes);
    const writer = await startRemoteWriter({ file: databaseFile(dir), epoch }, onHeld);
    return {
      ...createReads(db, Date.now, watch),
      node: epoch,
      epoch,
      cluster: null,
      watch(theWatcher) {
        watcher = theWatcher;
      },
      commit: async (owner, calls) => typed(await writer.commit({ owner, calls })),
      describeAgents: writer.describeAgents,
      async close() {
        await writer.close();
        db.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Opens the same store with its writer on the calling thread, which waits for the disk at every commit: for tests, and
 * for what need not last.
 *
 * @param options.dir a directory as above, or `:memory:`
 * @param options.now the store's clock in epoch ms
 */
export function openSqliteStoreInProcess({ dir, now = Date.now }: { dir: string; now?: () => number }): Store {
  const { writing, reading, release } = dir === MEMORY ? openMemory() : openDirectory(dir);
  const epoch = newEpoch();
  const writer = createWriter(writing, epoch, now);
  let shortage: Settled | undefined;
  let watcher = NOBODY;
  const watch = watchReads((error) => watcher.onFailed(error));
  return {
    ...createReads(reading, now, watch),
    node: epoch,
    epoch,
    cluster: null,
    watch(theWatcher) {
      watcher = theWatcher;
    },
    async commit(owner, calls) {
      const [settled] = shortage === undefined ? writer.commitAll([{ owner, calls }]) : [shortage];
      const heldBytes = writer.checkpoint();
      if (heldBytes !== null) watcher.onLogHeld(heldBytes);
      if (settled !== undefined && isFull(settled)) forgetOnceKnown(settled);
      return typed(unwrap(settled));
    },
    describeAgents: async (agents) => writer.describeAgents(agents),
    async close() {
      writer.close();
      reading.close();
      release();
    },
  };

  /** What else is asked for in this turn fails with it. */
  function forgetOnceKnown(full: Settled): void {
    shortage = full;
    queueMicrotask(() => {
      shortage = undefined;
    });
  }
}

const MEMORY = ':memory:';
const NOBODY: StoreWatcher = { onFailed() {}, onLogHeld() {}, onForeign() {} };

function openMemory() {
  const db = openConnection(MEMORY, 'write');
  migrateSchema(db);
  return { writing: db, reading: db, release: () => {} };
}

function openDirectory(dir: string) {
  prepareDirectory(dir);
  const lock = lockDirectory(dir);
  try {
    prepareFile(dir);
    const writing = openConnection(databaseFile(dir), 'write');
    return { writing, reading: openConnection(databaseFile(dir), 'read'), release: lock.release };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function newEpoch(): string {
  return formatEpoch(randomBytes(8));
}

function unwrap(settled: Settled | undefined): Batch {
  if (settled?.ok) return settled.batch;
  throw settled?.error ?? new Error('A commit came to nothing.');
}

/** A batch's outcomes stand in the order of the calls, which is what {@link Committed} says of them. */
function typed<Calls extends Parameters<Store['commit']>[1]>(batch: Batch): Committed<Calls> {
  return batch as Committed<Calls>;
}
