import { failpoint } from '../failpoint.ts';
import type { VerbCall } from '../model/batch.ts';
import type { Lease } from '../model/fence.ts';
import type { Cut } from '../model/journal.ts';
import { type TaskError, taskError } from '../model/task-error.ts';
import type { Store } from '../store/store.ts';
import type { Pool, PoolOptions } from '../worker/pool.ts';
import type { Report } from '../worker/protocol.ts';
import { createClaims } from './claims.ts';
import { type Copy, createCopies, type NumberedReport } from './copies.ts';
import { groupBy } from './group-by.ts';
import type { CommitListener, Log, LogOptions } from './log.ts';
import { createQuarantine } from './quarantine.ts';
import { createReleases } from './releases.ts';
import { verbOfReport } from './report-verb.ts';
import { wokenBy } from './waking.ts';
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
}

export interface DispatcherOptions {
  store: Store;
  /** How long a copy that waits is kept in memory. Default 10 s; 0 keeps none. */
  warmMs?: number | undefined;
  /** How many tasks of one owner may run at once. Default: as many as there are slots. */
  maxRunningPerOwner?: number | undefined;
  /** How many questions of one owner may be pending. Default 10,000. */
  maxPendingPerOwner?: number | undefined;
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
  let pool: Pool;
  let onIdle: (() => void) | null = null;
  const reportOf = new WeakMap<VerbCall, NumberedReport>();
  const copies = createCopies({
    warmMs,
    send: (command) => pool.send(command),
    reportOf: (call) => reportOf.get(call) ?? null,
    onStranded(copy, { code, message }) {
      if (code === 'limit_exceeded') cut(copy, taskError(code, message), null);
      else blame(copy, message);
    },
    onParked(owner, claim) {
      failpoint?.('claimed-but-parked');
      write(NO_WORKER, owner, claim, [{ verb: 'requeueTask', args: { ...claim, cause: 'parked' } }, releaseOf(claim)]);
    },
    onCut: (copy) => releases.add(copy),
  });
  const writing = createWriting({
    isLive: ({ taskId, fence }) => copies.get(taskId)?.fence === fence,
    onOvertaken: ({ taskId }) => giveBack(taskId),
    onBroken({ taskId }, error) {
      const copy = copies.get(taskId);
      if (copy !== undefined) blame(copy, String(error));
    },
    onFatal,
  });
  const claims = createClaims({ store, copies, maxRunningPerOwner, onSettled: tellIfIdle, onFatal });
  const quarantine = createQuarantine({ store, claims });
  const releases = createReleases({
    release(copy) {
      write(copy.worker ?? NO_WORKER, copy.owner, copy, [releaseOf(copy)]);
    },
    retire: (worker) => pool.retire(worker),
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

  /** Takes a task from a copy, behind all that it has reported. */
  function take(copy: Copy, calls: readonly VerbCall[]): void {
    copies.lose(copy);
    write(copy.worker ?? NO_WORKER, copy.owner, copy, calls);
  }

  /** The task of a copy that is gone goes on from its journal, in another. */
  function requeue(copy: Copy, cause: 'worker_lost' | 'drained'): void {
    const isHeld = copy.status === 'running';
    // Who ends the task before it is requeued leaves it held.
    take(copy, isHeld ? [{ verb: 'requeueTask', args: { ...leaseOf(copy), cause } }, releaseOf(copy)] : []);
  }

  /** The attempt of a copy that is gone has failed, whatever it may have said. */
  function fail(copy: Copy, error: TaskError): void {
    if (copy.status === 'lost') return;
    const how = { error, cut: null, when: 'now', jitter: Math.random() } as const;
    take(copy, [{ verb: 'failTask', args: { ...leaseOf(copy), ...how } }, releaseOf(copy)]);
  }

  /**
   * The attempt of a copy has failed, and it is told to stop; what runs of it until then holds the task.
   *
   * @param back where its journal is taken back to; null keeps it whole
   */
  function cut(copy: Copy, error: TaskError, back: Cut | null): void {
    if (copy.status === 'lost') return;
    const how = { error, cut: back, when: 'cut', jitter: Math.random() } as const;
    const isHeld = copy.status === 'running';
    take(copy, [{ verb: 'failTask', args: { ...leaseOf(copy), ...how } }]);
    if (isHeld) releases.add(copy);
    drop(copy);
  }

  function drop(copy: Copy): void {
    pool.send({ kind: 'drop', ...leaseOf(copy), reason: 'lost' });
  }

  function blame(copy: Copy, why: string): void {
    if (copy.status === 'lost') return;
    onTrouble(copy.taskId, why);
    cut(copy, taskError('agent_error', 'The server refused what the task reported.'), null);
  }

  function giveBack(taskId: string): void {
    const copy = copies.get(taskId);
    if (copy === undefined) return;
    drop(copy);
    requeue(copy, 'worker_lost');
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
        if (copy === undefined || copy.fence !== lease.fence) continue;
        if (culprit?.taskId === copy.taskId) fail(copy, culprit.error);
        else requeue(copy, 'worker_lost');
      }
    },

    onFailed(taskId, fence, error, _stack, back) {
      const copy = copies.get(taskId);
      // Its thread may not have heard of its newest claim yet.
      if (copy === undefined || fence < copy.firstFence || fence > copy.fence) return;
      cut(copy, error, back);
    },

    follow(owner, calls) {
      if (copies.warm() === 0) return null;
      const parentOf = (taskId: string) => copies.get(taskId)?.parentId ?? null;
      const woken = calls.flatMap((call) => wokenBy(owner, call, store, parentOf) ?? []);
      const warm = [...new Set(woken)].filter((taskId) => copies.get(taskId)?.status === 'waiting');
      return warm.length === 0 ? null : claims.rightAway(owner, warm);
    },

    onCommitted(owner, calls, committed) {
      copies.committed(owner, calls, committed);
      for (const call of calls) if (call.verb === 'claimTask') claims.settled(call.args.taskId);
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
      for (const copy of copies.unfinished()) requeue(copy, 'drained');
      releases.releaseAll();
      await writing.stop(ms);
    },
  };
}

function leaseOf({ taskId, fence }: Lease): Lease {
  return { taskId, fence };
}

/** Of a task that is still held though it runs no more; of any other it does nothing. */
function releaseOf(lease: Lease): VerbCall {
  return { verb: 'releaseTask', args: leaseOf(lease) };
}

function entryOf(lease: Lease, call: VerbCall): Entry {
  return { ...leaseOf(lease), call, isReport: false };
}
