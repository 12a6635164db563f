import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database, Statement } from 'better-sqlite3';
import { failpoint } from '../../failpoint.ts';
import { type Batch, decideBatch, type VerbCall } from '../../model/batch.ts';
import { type AgentDescription, StoreError } from '../store.ts';
import { asStoreError, isFatal } from './failure.ts';
import { createLoad, type Loaded } from './load.ts';
import { createWrite } from './write.ts';

/** What one call of `Store.commit` asks for. */
export interface Commit {
  owner: string;
  calls: readonly VerbCall[];
}

/** What became of a commit: all of it is on disk, or none. */
export type Settled = { ok: true; batch: Batch } | { ok: false; error: Error };

/** The only one who writes. All of it is synchronous: whichever thread has the writer waits for the disk. */
export interface Writer {
  /**
   * Decides the commits in their order and writes them in one transaction. When that fails nobody is told, and each is
   * tried in a transaction of its own. Where one finds no space, those behind it fail untried, so that none overtakes it;
   * once the disk itself has failed, everything fails.
   */
  commitAll(commits: readonly Commit[]): Settled[];
  /** @throws StoreError as `Store.commit` does */
  describeAgents(agents: readonly AgentDescription[]): void;
  /**
   * Moves the WAL into the database when it has grown. To be called when the commits have been answered.
   *
   * @returns the bytes of a WAL that another process keeps from being begun anew, where it is time to tell; else null
   */
  checkpoint(): number | null;
  /** Leaves the database whole in its one file, and closes it. Again does nothing. */
  close(): void;
}

const MAX_WAL_PAGES = 2_000;
/** Whenever the WAL has grown by so much it is seen whether the disk has room to move it: it may need as much again. */
const LOOK_PAGES = 256;
/** What a frame of the WAL has beside its page. */
const FRAME_HEADER_BYTES = 24;
/** So large a WAL that cannot be begun anew is told of, and again whenever it has doubled. */
const TOLD_WAL_BYTES = 16 * 1024 * 1024;
/** How long a checkpoint waits for reads that are under way: those of this process take a few ms. */
const CHECKPOINT_WAIT_MS = 1_000;
/** The same while somebody else's read, which may last for hours, is known to hold the WAL. */
const HELD_WAIT_MS = 25;
/** Where moving the WAL did not make room on a full disk, it is not tried again for so long. */
const MAKE_ROOM_AGAIN_MS = 1_000;

export function createWriter(db: Database, epoch: string, clock: () => number): Writer {
  const load = createLoad(db);
  const write = createWrite(db);
  const replaceAgents = createReplaceAgents(db);
  // `log`, its pages, is −1 in a database without a WAL.
  const wal = db.prepare<[], { log: number }>('pragma wal_checkpoint(noop)');
  // It waits the moment that a read takes: a WAL is begun anew only when nobody reads of it, and under readers that
  // never rest a passive checkpoint is a matter of luck.
  const checkpoint = db.prepare<[], { busy: number }>('pragma wal_checkpoint(restart)');
  const emptying = db.prepare<[], { busy: number }>('pragma wal_checkpoint(truncate)');
  const frameBytes = Number(db.pragma('page_size', { simple: true })) + FRAME_HEADER_BYTES;
  const writeWaitMs = Number(db.pragma('busy_timeout', { simple: true }));
  let duePages = MAX_WAL_PAGES;
  let lookPages = LOOK_PAGES;
  let isHeld = false;
  let toldBytes = TOLD_WAL_BYTES / 2;
  let mayMakeRoomAt = 0;
  let fatal: Error | null = null;

  const writeGroup = db.transaction((commits: readonly Commit[]) => {
    const now = clock();
    return commits.map((commit) => settle(commit, now));
  });

  function settle({ owner, calls }: Commit, now: number): Settled {
    const loaded = load(owner, calls);
    failpoint?.('loaded-not-decided');
    const decided = decide(loaded, calls, now);
    if (decided.ok) write(loaded, decided.batch);
    failpoint?.('written-not-committed');
    return decided;
  }

  /** A verb that throws is a bug of that verb alone: nothing of its commit has been written yet. */
  function decide({ view }: Loaded, calls: readonly VerbCall[], now: number): Settled {
    try {
      return { ok: true, batch: decideBatch(view, calls, epoch, now) };
    } catch (error) {
      return { ok: false, error: asStoreError(error) };
    }
  }

  function attempt<T>(work: () => T): T {
    if (fatal !== null) throw fatal;
    try {
      return work();
    } catch (cause) {
      const error = asStoreError(cause);
      if (isFatal(error)) fatal = error;
      throw error;
    }
  }

  function commitAll(commits: readonly Commit[]): Settled[] {
    failpoint?.('before-begin');
    try {
      return attempt(() => writeGroup.immediate(commits));
    } catch (error) {
      if (isFullError(error) && makeRoom()) return commitAll(commits);
      if (commits.length > 1) return oneByOne(commits);
      return commits.map(() => ({ ok: false, error: asStoreError(error) }));
    }
  }

  function oneByOne(commits: readonly Commit[]): Settled[] {
    const settled: Settled[] = [];
    for (const commit of commits) {
      const full = settled.find(isFull);
      settled.push(...(full === undefined ? commitAll([commit]) : [full]));
    }
    return settled;
  }

  /**
   * Gives the file system the space of the WAL, which may be all that there was: what it holds is moved into the database.
   *
   * @returns whether that has made a difference
   */
  function makeRoom(): boolean {
    const now = performance.now();
    if (now < mayMakeRoomAt || pagesOfWal() <= 0) return false;
    if (tryCheckpoint(emptying, HELD_WAIT_MS) === 'done') return true;
    mayMakeRoomAt = now + MAKE_ROOM_AGAIN_MS;
    return false;
  }

  function pagesOfWal(): number {
    return wal.get()?.log ?? 0;
  }

  /**
   * Nobody waits for it: for want of space it is tried again, and a failed disk fails the next commit.
   *
   * @returns `held` when someone, who can only be another process, kept the WAL from being begun anew
   */
  function tryCheckpoint(statement: Statement<[], { busy: number }>, waitMs: number): 'done' | 'held' | 'failed' {
    try {
      db.pragma(`busy_timeout = ${waitMs}`);
      return statement.get()?.busy === 1 ? 'held' : 'done';
    } catch (cause) {
      const error = asStoreError(cause);
      if (isFatal(error)) fatal = error;
      else if (!(error instanceof StoreError)) throw error;
      return 'failed';
    } finally {
      db.pragma(`busy_timeout = ${writeWaitMs}`);
    }
  }

  /**
   * How the WAL is to be moved: where it has grown large, and where it is about to fill the disk, on which it could not be
   * moved any more. Then its file is emptied as well: it would hold what the database needs to grow. Null for not yet.
   */
  function dueCheckpoint(pages: number): typeof checkpoint | null {
    if (pages > duePages) return checkpoint;
    if (pages <= lookPages) return null;
    lookPages = pages + LOOK_PAGES;
    const { bavail, bsize } = statfsSync(dirname(db.name));
    return bavail * bsize < pages * frameBytes ? emptying : null;
  }

  /** @returns its size, if it is to be told */
  function noteHeld(pages: number): number | null {
    isHeld = true;
    const bytes = pages * frameBytes;
    if (bytes < toldBytes * 2) return null;
    toldBytes = bytes;
    return bytes;
  }

  function noteFree(): void {
    isHeld = false;
    toldBytes = TOLD_WAL_BYTES / 2;
  }

  return {
    commitAll,
    describeAgents: (agents) => attempt(() => replaceAgents.immediate(agents)),
    checkpoint() {
      const pages = pagesOfWal();
      const due = fatal === null ? dueCheckpoint(pages) : null;
      if (due === null) return null;
      failpoint?.('checkpoint-due');
      const came = tryCheckpoint(due, isHeld ? HELD_WAIT_MS : CHECKPOINT_WAIT_MS);
      failpoint?.('checkpointed');
      duePages = came === 'held' ? pages + MAX_WAL_PAGES : MAX_WAL_PAGES;
      if (came === 'done') lookPages = LOOK_PAGES;
      if (came === 'held') return noteHeld(pages);
      if (came === 'done') noteFree();
      return null;
    },
    close() {
      failpoint?.('closed-not-checkpointed');
      if (fatal === null && db.open) tryCheckpoint(emptying, CHECKPOINT_WAIT_MS);
      db.close();
    },
  };
}

/** Whether a commit has failed for want of space, and with it all that were asked for before that was known. */
export function isFull(settled: Settled): boolean {
  return !settled.ok && isFullError(settled.error);
}

function isFullError(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'storage_full';
}

function createReplaceAgents(db: Database) {
  const clear = db.prepare('delete from agent');
  const insert = db.prepare<[string, string, string, string]>(
    'insert into agent (name, version, description, input_schema) values (?, ?, ?, ?)',
  );
  return db.transaction((agents: readonly AgentDescription[]) => {
    clear.run();
    for (const { name, version, description, inputSchema } of agents) {
      insert.run(name, version, description, JSON.stringify(inputSchema));
    }
  });
}
