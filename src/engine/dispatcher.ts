import { failpoint } from '../failpoint.ts';
import type { VerbCall } from '../model/batch.ts';
import type { Lease } from '../model/fence.ts';
import { taskError } from '../model/task-error.ts';
import type { HeldTask, Store } from '../store/store.ts';
import type { Pool, PoolOptions } from '../worker/pool.ts';
import type { Report } from '../worker/protocol.ts';
import { createClaims } from './claims.ts';
import { createContest } from './contest.ts';
import { type Copies, createCopies } from './copies.ts';
import type { Copy, NumberedReport } from './copy.ts';
import { groupBy } from './group-by.ts';
import type { CommitListener, Followers, Log, LogOptions } from './log.ts';
import { createQuarantine } from './quarantine.ts';
import { createReleases } from './releases.ts';
import { verbOfReport } from './report-verb.ts';
import { createTaking, leaseOf, REFUSED, releaseOf } from './taking.ts';
import { wokenBy } from './waking.ts';
import { createWarmFirst } from './warm-first.ts';
import { createWriting, type Entry } from './writing.ts';

/** Gives queued tasks to workers, and writes down what workers report. */
export interface Dispatcher extends Pick<PoolOptions, 'onReports' | 'onLost' | 'onFailed'>, Pick<LogOptions, 'follow'> {
  readonly onCommitted: CommitListener;
  /** Begins to claim. */
  start(log: Log, pool: Pool): void;
  /** Claims nothing more, and resolves when no copy runs any more or `ms` are over. */
  drain(ms: number): Promise<void>;
  /** Gives back what still runs, now that its workers are gone, and writes nothing more; at the latest after `ms`. */
  stop(ms: number): Promise<void>;
  readonly copies: Copies;
  /** Looks soon for something to claim. */
  claimSoon(): void;
  /** Claims those of an owner's tasks whose copies wait, now that another process has woken them. */
  claimWoken(owner: string, taskIds: readonly string[]): void;
  /** Drops all copies, and writes nothing that they have reported. */
  dropAll(): void;
  /** Lets go of a task that this process holds, unless it has a copy, or one that is about to let go. */
  giveBack(task: HeldTask): void;
}

/** What the dispatcher must know where several processes share a database. */
export interface Neighbours {
  /** See {@link Membership.isAlive}. */
  isAlive(): boolean;
  /** See {@link Follower.catchUp}. */
  catchUp(owner: string): void;
  /** Whether this process does what one of them has to do. */
  isOnDuty(): boolean;
}

export interface DispatcherOptions {
  store: Store;
  /** How long a copy that waits is kept in memory. Default 10 s; 0 keeps none. */
  warmMs?: number | undefined;
  /** How many tasks of one owner may run at once. Default: as many as there are slots. */
  maxRunningPerOwner?: number | undefined;
  /** How many questions of one owner may be pending. Default 10,000. */
  maxPendingPerOwner?: number | undefined;
  /** Default: null, this process has the database for itself. */
  neighbours?: Neighbours | null;
  /** Called with what must not happen, and costs one task its attempt. */
  onTrouble(taskId: string, why: string): void;
  /** Called with what must never happen, when the process cannot be trusted any more. */
  onFatal(error: unknown): void;
}

const DEFAULT_WARM_MS = 10_000;
/** Of a copy that has not reported anything yet. */
const NO_WORKER = -1;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, warmMs = DEFAULT_WARM_MS, maxRunningPerOwner, maxPendingPerOwner, onTrouble, onFatal } = options;
  const { neighbours = null } = options;
  const isAlive = neighbours?.isAlive ?? (() => true);
  let pool: Pool;
  let onIdle: (() => void) | null = null;
  const reportOf = new WeakMap<VerbCall, NumberedReport>();
  const copies = createCopies({
    warmMs,
    send: (command) => pool.send(command),
    reportOf: (call) => reportOf.get(call) ?? null,
    onStranded(copy, { code, message }) {
      if (code === 'limit_exceeded') taking.cut(copy, taskError(code, message), null);
      else blame(copy, message);
    },
    onParked(owner, claim) {
      failpoint?.('claimed-but-parked');
      write(NO_WORKER, owner, claim, [{ verb: 'requeueTask', args: { ...claim, cause: 'parked' } }, releaseOf(claim)]);
    },
    onCut: (copy) => releases.add(copy),
    onBehind: neighbours?.catchUp ?? null,
    mayStart: (node) => neighbours === null || (isAlive() && node === store.node),
  });
  const writing = createWriting({
    isLive: ({ taskId, fence }) => isAlive() && copies.get(taskId)?.fence === fence,
    onOvertaken({ taskId }) {
      const copy = copies.get(taskId);
      if (copy !== undefined) taking.giveBack(copy);
    },
    onBroken({ taskId }, error) {
      const copy = copies.get(taskId);
      if (copy !== undefined) blame(copy, String(error));
    },
    onFatal,
  });
  const contest = createContest();
  const claims = createClaims({
    ...{ store, copies, contest, maxRunningPerOwner, mayClaim: isAlive, onSettled: tellIfIdle, onFatal },
  });
  const quarantine = createQuarantine({ store, claims, isMine: neighbours?.isOnDuty ?? (() => true), onFatal });
  const warmFirst = neighbours === null ? null : createWarmFirst({ store, copies, contest, claims, onFatal });
  const releases = createReleases({
    release(copy) {
      write(copy.worker ?? NO_WORKER, copy.owner, copy, [releaseOf(copy)]);
    },
    retire: (worker) => pool.retire(worker),
  });

  const taking = createTaking({
    copies,
    releases,
    drop: (lease) => pool.send({ kind: 'drop', ...lease, reason: 'lost' }),
    write: (copy, calls) => write(copy.worker ?? NO_WORKER, copy.owner, copy, calls),
  });

  function tellIfIdle(): void {
    if (copies.running() === 0 && claims.underWay === 0) onIdle?.();
  }

  function write(worker: number, owner: string, lease: Lease, calls: readonly VerbCall[]): void {
    writing.put(
      worker,
      owner,
      calls.map((call) => entryOf(lease, call)),
    );
  }

  /** Claims those of these tasks whose copies wait, in the commit that wakes them. */
  function claimWarm(owner: string, woken: readonly string[]): Followers | null {
    const warm = waiting(woken);
    return warm.length === 0 ? null : claims.rightAway(owner, warm);
  }

  function waiting(taskIds: readonly string[]): string[] {
    return [...new Set(taskIds)].filter((taskId) => copies.get(taskId)?.status === 'waiting');
  }

  function blame(copy: Copy, why: string): void {
    if (copy.status === 'lost') return;
    onTrouble(copy.taskId, why);
    taking.cut(copy, REFUSED, null);
  }

  /** What is to be written for a report; null for one of a copy that is gone. */
  function received(worker: number, report: Report): Entry | null {
    if (report.kind === 'released') releases.released(report);
    if (!('taskId' in report) || !('fence' in report)) return null;
    const copy = copies.get(report.taskId);
    if (copy === undefined || copy.fence !== report.fence || copy.status === 'lost') return null;
    copy.worker = worker;
    if (report.kind === 'wake') return entryOf(copy, { verb: 'wakeTask', args: leaseOf(copy) });
    if (!('n' in report)) return null;
    if (report.n !== copy.received + 1 || copy.status !== 'running') {
      blame(copy, `Report ${report.n} came when it was ${copy.status}, after report ${copy.received}.`);
      return null;
    }
    copy.received = report.n;
    const entry = { ...entryOf(copy, verbOfReport(report, maxPendingPerOwner)), isReport: true };
    reportOf.set(entry.call, report);
    return entry;
  }

  return {
    onReports(worker, reports) {
      // Nothing of what a process reports that was stopped for too long is written.
      isAlive();
      const entries = reports.flatMap((report) => received(worker, report) ?? []);
      failpoint?.('reports-not-written');
      for (const [owner, own] of groupBy(entries, ({ taskId }) => copies.get(taskId)?.owner)) {
        if (owner !== undefined) writing.put(worker, owner, own);
      }
    },

    onLost({ copies: lost, culprit }) {
      failpoint?.('lost-not-requeued');
      for (const lease of lost) {
        releases.released(lease);
        const copy = copies.get(lease.taskId);
        if (copy === undefined || !isOf(copy, lease.fence)) continue;
        if (culprit?.taskId === copy.taskId) taking.fail(copy, culprit.error);
        else taking.requeue(copy, 'worker_lost');
      }
    },

    onFailed(taskId, fence, error, _stack, back) {
      const copy = copies.get(taskId);
      if (copy === undefined || !isOf(copy, fence)) return;
      taking.cut(copy, error, back);
    },

    follow(owner, calls) {
      if (copies.warm() === 0) return null;
      const parentOf = (taskId: string) => copies.get(taskId)?.parentId ?? null;
      const woken = wokenBy(owner, calls, store, parentOf);
      if (woken instanceof Promise) return woken.then((taskIds) => () => claimWarm(owner, taskIds));
      return woken.length === 0 ? null : () => claimWarm(owner, woken);
    },

    onCommitted(owner, calls, committed) {
      copies.committed(owner, calls, committed);
      warmFirst?.onCommitted(owner, calls, committed);
      for (const [at, { verb, args }] of calls.entries()) {
        if (verb === 'claimTask') claims.settled(args.taskId, committed.outcomes[at]?.ok === true);
      }
      tellIfIdle();
      // Where nothing was changed there is nothing new to claim.
      if (committed.events.length > 0 || committed.outcomes.some(({ ok }) => ok)) claims.schedule();
    },

    start(log, thePool) {
      pool = thePool;
      writing.start(log);
      claims.start(log, pool);
      quarantine.start();
    },

    drain(ms) {
      claims.stop();
      quarantine.stop();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
        tellIfIdle();
      });
    },

    async stop(ms) {
      for (const copy of copies.unfinished()) taking.requeue(copy, 'drained');
      releases.releaseAll();
      await writing.stop(ms);
    },

    copies,
    claimSoon: claims.schedule,
    claimWoken: (owner, taskIds) => claims.claimWarm(owner, waiting(taskIds)),

    dropAll() {
      for (const { taskId } of copies.all()) copies.cut(taskId, 'lost');
      tellIfIdle();
    },

    giveBack({ owner, taskId, fence, status }) {
      const lease = { taskId, fence };
      if (copies.get(taskId)?.fence === fence || releases.has(lease)) return;
      const requeueIt: VerbCall = { verb: 'requeueTask', args: { ...lease, cause: 'parked' } };
      write(NO_WORKER, owner, lease, status === 'running' ? [requeueIt, releaseOf(lease)] : [releaseOf(lease)]);
    },
  };
}

/** Whether a claim is a copy's. Its thread may not have heard of the newest yet. */
function isOf({ firstFence, fence }: Copy, claim: number): boolean {
  return firstFence <= claim && claim <= fence;
}

function entryOf(lease: Lease, call: VerbCall): Entry {
  return { ...leaseOf(lease), call, isReport: false };
}
