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
  /** Moves the WAL into the database when it has grown. To be called when the commits have been answered. */
  checkpoint(): void;
  /** Leaves the database whole in its one file, and closes it. Again does nothing. */
  close(): void;
}

const MAX_WAL_PAGES = 2_000;

export function createWriter(db: Database, epoch: string, clock: () => number): Writer {
  const load = createLoad(db);
  const write = createWrite(db);
  const replaceAgents = createReplaceAgents(db);
  // `log`, its pages, is −1 in a database without a WAL.
  const wal = db.prepare<[], { log: number }>('pragma wal_checkpoint(noop)');
  // It waits the moment that a read takes: a WAL is begun anew only when nobody reads of it, and under readers that
  // never rest a passive checkpoint is a matter of luck.
  const checkpoint = db.prepare<[], { busy: number }>('pragma wal_checkpoint(restart)');
  const lastCheckpoint = db.prepare<[], { busy: number }>('pragma wal_checkpoint(truncate)');
  let duePages = MAX_WAL_PAGES;
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
   * Nobody waits for it: for want of space it is tried again, and a failed disk fails the next commit.
   *
   * @returns whether someone, who can only be another process, kept the WAL from being begun anew
   */
  function tryCheckpoint(statement: Statement<[], { busy: number }>): boolean {
    try {
      return statement.get()?.busy === 1;
    } catch (cause) {
      const error = asStoreError(cause);
      if (isFatal(error)) fatal = error;
      else if (!(error instanceof StoreError)) throw error;
      return false;
    }
  }

  return {
    commitAll,
    describeAgents: (agents) => attempt(() => replaceAgents.immediate(agents)),
    checkpoint() {
      const { log } = wal.get() ?? { log: 0 };
      if (fatal !== null || log <= duePages) return;
      failpoint?.('checkpoint-due');
      duePages = tryCheckpoint(checkpoint) ? log + MAX_WAL_PAGES : MAX_WAL_PAGES;
      failpoint?.('checkpointed');
    },
    close() {
      failpoint?.('closed-not-checkpointed');
      if (fatal === null && db.open) tryCheckpoint(lastCheckpoint);
      db.close();
    },
  };
}

/** Whether a commit has failed for want of space, and with it all that were asked for before that was known. */
export function isFull(settled: Settled): boolean {
  return !settled.ok && settled.error instanceof StoreError && settled.error.code === 'storage_full';
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
