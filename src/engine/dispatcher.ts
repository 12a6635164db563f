import type { VerbCall } from '../model/batch.ts';
import { HoldfastError } from '../model/error.ts';
import { type TaskError, taskError } from '../model/task-error.ts';
import type { Store } from '../store/store.ts';
import type { Pool, PoolOptions } from '../worker/pool.ts';
import type { Report } from '../worker/protocol.ts';
import { createCopies, type NumberedReport } from './copies.ts';
import { createInbox, type Inbox } from './inbox.ts';
import type { CommitListener, Log } from './log.ts';
import { verbOfReport } from './report-verb.ts';

/** Gives queued tasks to workers, and writes down what workers report. */
export interface Dispatcher extends Pick<PoolOptions, 'onReports' | 'onLost'> {
  readonly onCommitted: CommitListener;
  /** Claims, right behind what wakes them, the tasks that wait in a worker's memory: one commit for both. */
  follow(owner: string, calls: readonly VerbCall[]): VerbCall[];
  /** Fails what an earlier process left running or waiting, then begins to claim. */
  start(log: Log, pool: Pool): Promise<void>;
  /** Claims nothing more, and resolves when no copy runs any more or `ms` are over. */
  drain(ms: number): Promise<void>;
}

/** Something to write for a copy. */
interface Entry {
  taskId: string;
  fence: number;
  call: VerbCall;
  /** What the copy will have to be told of; null for what it did not report itself. */
  report: NumberedReport | null;
}

const ORPHANS_AT_ONCE = 200;
const CLAIMS_AT_ONCE = 100;
const STORAGE_RETRY_MS = 1000;
/** For a copy that has not reported anything yet. */
const NO_WORKER = -1;
/** Of an agent that is not here: its task fails `unknown_agent` when it is begun. */
const UNKNOWN_VERSION = '';

/** @param onFatal called with what must never happen, when the process cannot be trusted any more */
export function createDispatcher(store: Store, onFatal: (error: unknown) => void): Dispatcher {
  let log: Log;
  let pool: Pool;
  let claimsScheduled = false;
  let claimsAllowed = false;
  let onIdle: (() => void) | null = null;
  const claiming = new Set<string>();
  const inboxes = new Map<number, Inbox<Entry>>();
  const workerOf = new Map<string, number>();
  const reportsOf = new WeakMap<readonly VerbCall[], (NumberedReport | null)[]>();
  const copies = createCopies((command) => pool.send(command));

  function scheduleClaims(): void {
    if (claimsScheduled || !claimsAllowed) return;
    claimsScheduled = true;
    setImmediate(() => {
      claimsScheduled = false;
      if (claimsAllowed) claim();
    });
  }

  function claim(): void {
    const free = Math.min(pool.freeSlots() - claiming.size, CLAIMS_AT_ONCE);
    if (free <= 0) return;
    const candidates = store.claimable(free + claiming.size).filter(({ taskId }) => !claiming.has(taskId));
    for (const [owner, tasks] of groupBy(candidates.slice(0, free), (candidate) => candidate.owner)) {
      for (const { taskId } of tasks) claiming.add(taskId);
      const calls = tasks.map(({ taskId, agent }) => {
        const version = pool.agents.find(({ name }) => name === agent)?.version ?? UNKNOWN_VERSION;
        return { verb: 'claimTask', args: { taskId, version } } as const;
      });
      log
        .commit(owner, calls)
        .catch(unlessFull)
        .then((committed) => {
          for (const { taskId } of tasks) claiming.delete(taskId);
          if (committed === null) setTimeout(scheduleClaims, STORAGE_RETRY_MS);
          else scheduleClaims();
        })
        .catch(onFatal);
    }
  }

  /** Writes what a worker has reported. @returns what there was no space for */
  async function write(entries: Entry[]): Promise<Entry[]> {
    const writes: Promise<Entry[]>[] = [];
    for (const [owner, own] of groupBy(entries, ownerOf)) if (owner !== null) writes.push(writeOwn(owner, own));
    return (await Promise.all(writes)).flat();
  }

  async function writeOwn(owner: string, entries: Entry[]): Promise<Entry[]> {
    const calls = entries.map(({ call }) => call);
    reportsOf.set(
      calls,
      entries.map(({ report }) => report),
    );
    const committed = await log.commit(owner, calls).catch(unlessFull);
    if (committed === null) return entries;
    for (const [index, { taskId, fence, call }] of entries.entries()) {
      const copy = copies.get(taskId);
      const refused = committed.outcomes[index]?.ok === false;
      // The copy was lost while a claim for it was on its way: the claim's fence is the one to fail it under.
      if (call.verb === 'failTask' && refused && copy !== undefined && copy.fence > fence) {
        lose(taskId, copy.fence, call.args.error);
      }
    }
    return [];
  }

  function put(worker: number, entries: readonly Entry[]): void {
    const inbox = inboxes.get(worker) ?? createInbox({ write, onFatal });
    inboxes.set(worker, inbox);
    inbox.put(entries);
  }

  function lose(taskId: string, fence: number, error: TaskError): void {
    const call = { verb: 'failTask', args: { taskId, fence, error, when: 'now' } } as const;
    put(workerOf.get(taskId) ?? NO_WORKER, [{ taskId, fence, call, report: null }]);
  }

  function ownerOf({ taskId, fence }: Entry): string | null {
    const copy = copies.get(taskId);
    return copy !== undefined && copy.fence === fence ? copy.owner : null;
  }

  async function failOrphans(): Promise<void> {
    const error = taskError('worker_exited', 'The server stopped while the task was unfinished.');
    for (;;) {
      const orphans = store.orphans(ORPHANS_AT_ONCE);
      if (orphans.length === 0) return;
      for (const [owner, own] of groupBy(orphans, (orphan) => orphan.owner)) {
        const calls = own.map(
          ({ taskId, fence }) => ({ verb: 'failTask', args: { taskId, fence, error, when: 'now' } }) as const,
        );
        await log.commit(owner, calls);
      }
    }
  }

  return {
    onReports(worker, reports) {
      const entries = reports.flatMap((report) => entryOf(report) ?? []);
      for (const { taskId } of entries) workerOf.set(taskId, worker);
      put(worker, entries);
    },

    onLost(lost, error) {
      for (const { taskId, fence } of lost) lose(taskId, copies.get(taskId)?.fence ?? fence, error);
    },

    follow(_owner, calls) {
      if (!claimsAllowed || calls.length > 1) return [];
      const woken = calls.map(copies.wokenBy).filter((taskId) => taskId !== null);
      if (woken.length > pool.freeSlots() - claiming.size) return [];
      // It was claimed before, so its version is known.
      return woken.map((taskId) => ({ verb: 'claimTask', args: { taskId, version: UNKNOWN_VERSION } }));
    },

    onCommitted(owner, calls, committed) {
      copies.committed(owner, calls, committed, reportsOf.get(calls));
      for (const { taskId, type } of committed.events) if (isEnd(type)) workerOf.delete(taskId);
      if (onIdle !== null && copies.running() === 0) onIdle();
      scheduleClaims();
    },

    async start(theLog, thePool) {
      log = theLog;
      pool = thePool;
      await failOrphans();
      claimsAllowed = true;
      scheduleClaims();
    },

    drain(ms) {
      claimsAllowed = false;
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
        if (copies.running() === 0 && claiming.size === 0) onIdle();
      });
    },
  };
}

/** Null for want of space, which passes; anything else is a bug. */
function unlessFull(error: unknown): null {
  if (error instanceof HoldfastError && error.code === 'storage_full') return null;
  throw error;
}

function entryOf(report: Report): Entry | null {
  if ('n' in report) {
    const { taskId, fence } = report;
    return { taskId, fence, call: verbOfReport(report), report };
  }
  if (report.kind !== 'wake') return null;
  const { taskId, fence } = report;
  return { taskId, fence, call: { verb: 'wakeTask', args: { taskId, fence } }, report: null };
}

function isEnd(type: string): boolean {
  return type === 'task.completed' || type === 'task.failed' || type === 'task.cancelled';
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
