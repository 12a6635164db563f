import type { Batch, VerbCall } from '../../model/batch.ts';
import { StoreError } from '../store.ts';

/** What one call of `Store.commit` asks for. */
export interface Commit {
  owner: string;
  calls: readonly VerbCall[];
}

/** What became of a commit: all of it is stored, or none. */
export type Settled = { ok: true; batch: Batch } | { ok: false; error: Error };

/** Runs commits of one owner in their order, in one transaction if it can. Never throws. */
export type RunGroup = (owner: string, commits: readonly Commit[]) => Promise<readonly Settled[]>;

export interface CommitQueue {
  commit(commit: Commit): Promise<Batch>;
  /** Settles when everything that was asked for has. */
  idle(): Promise<void>;
}

/** A transaction takes so many calls at most, … */
const MAX_CALLS = 50;
/** … and about so many rows: above, it takes longer for each of them, and everyone in it waits for all. */
const MAX_ROWS = 500;
/** So much text makes as much work as a row. */
const ROW_CHARS = 4096;

interface Job {
  commit: Commit;
  rows: number;
  resolve(batch: Batch): void;
  reject(error: Error): void;
}

/**
 * Of each owner one transaction is under way at a time, as they would only wait for each other. What is asked for meanwhile
 * gathers into the next: the more there is to do, the larger the groups, without a timer. Where one group cannot be written
 * for want of space or of a database, all that wait behind it fail with it, so that none overtakes it.
 */
export function createCommitQueue(run: RunGroup): CommitQueue {
  const waiting = new Map<string, Job[]>();
  const idlers: (() => void)[] = [];

  async function drain(owner: string, jobs: Job[]): Promise<void> {
    // What is asked within one turn goes together.
    await null;
    while (jobs.length > 0) {
      const group = takeGroup(jobs);
      const settled = await run(
        owner,
        group.map(({ commit }) => commit),
      );
      for (const [index, job] of group.entries()) settle(job, settled[index]);
      const trouble = settled.find(isTrouble);
      if (trouble !== undefined) for (const job of jobs.splice(0)) settle(job, trouble);
    }
    waiting.delete(owner);
    if (waiting.size === 0) for (const resolve of idlers.splice(0)) resolve();
  }

  return {
    commit(commit) {
      return new Promise((resolve, reject) => {
        const job = { commit, rows: rowsOf(commit), resolve, reject };
        const jobs = waiting.get(commit.owner);
        if (jobs !== undefined) jobs.push(job);
        else {
          const first = [job];
          waiting.set(commit.owner, first);
          void drain(commit.owner, first);
        }
      });
    },
    async idle() {
      if (waiting.size > 0) await new Promise<void>((resolve) => idlers.push(resolve));
    },
  };
}

function takeGroup(jobs: Job[]): Job[] {
  const group = jobs.splice(0, 1);
  let calls = group[0]?.commit.calls.length ?? 0;
  let rows = group[0]?.rows ?? 0;
  for (let next = jobs[0]; next !== undefined; next = jobs[0]) {
    calls += next.commit.calls.length;
    rows += next.rows;
    if (calls > MAX_CALLS || rows > MAX_ROWS) break;
    group.push(next);
    jobs.shift();
  }
  return group;
}

function settle({ resolve, reject }: Job, settled: Settled | undefined): void {
  if (settled?.ok) resolve(settled.batch);
  else reject(settled?.error ?? new Error('A commit came to nothing.'));
}

function isTrouble(settled: Settled): boolean {
  return !settled.ok && settled.error instanceof StoreError;
}

/** How many rows it will come to, roughly. */
function rowsOf({ calls }: Commit): number {
  return calls.reduce((rows, call) => rows + rowsOfCall(call), 0);
}

function rowsOfCall({ verb, args }: VerbCall): number {
  if (verb === 'appendEvents') {
    const chars = args.events.reduce((sum, { data }) => sum + data.length, 0);
    return Math.max(args.events.length, Math.ceil(chars / ROW_CHARS));
  }
  if (verb === 'settleStep' && args.outcome.status === 'completed') return 1 + args.outcome.value.length / ROW_CHARS;
  return 1;
}
