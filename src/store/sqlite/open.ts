import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import type { Batch } from '../../model/batch.ts';
import { formatEpoch } from '../../model/epoch.ts';
import type { Committed, Store } from '../store.ts';
import { databaseFile, migrateSchema, openConnection, prepareFile } from './connection.ts';
import { lockDirectory } from './lock.ts';
import { createReads } from './reads.ts';
import { startRemoteWriter } from './remote.ts';
import { createWriter, isFull, type Settled } from './writer.ts';

/**
 * Opens the store of a directory, which is made if it is missing, with its writer on a thread of its own.
 *
 * @throws Error when another server has the directory, or its database is not what this version can use
 */
export async function openSqliteStore({ dir }: { dir: string }): Promise<Store> {
  mkdirSync(dir, { recursive: true });
  const lock = lockDirectory(dir);
  try {
    prepareFile(dir);
    const db = openConnection(databaseFile(dir), 'read');
    const reads = createReads(db, Date.now);
    const epoch = newEpoch();
    const writer = await startRemoteWriter({ file: databaseFile(dir), epoch });
    return {
      ...reads,
      epoch,
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
  return {
    ...createReads(reading, now),
    epoch,
    async commit(owner, calls) {
      const [settled] = shortage === undefined ? writer.commitAll([{ owner, calls }]) : [shortage];
      writer.checkpoint();
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

function openMemory() {
  const db = openConnection(MEMORY, 'write');
  migrateSchema(db);
  return { writing: db, reading: db, release: () => {} };
}

function openDirectory(dir: string) {
  mkdirSync(dir, { recursive: true });
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
