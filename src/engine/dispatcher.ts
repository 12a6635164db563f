import type { VerbCall } from '../model/batch.ts';
import { type TaskError, taskError } from '../model/task-error.ts';
import type { Store } from '../store/store.ts';
import type { Pool, PoolOptions } from '../worker/pool.ts';
import type { Report } from '../worker/protocol.ts';
import { createClaims } from './claims.ts';
import { createCopies, type NumberedReport } from './copies.ts';
import { groupBy } from './group-by.ts';
import { createInbox, type Inbox } from './inbox.ts';
import type { CommitListener, Log } from './log.ts';
import { unlessFull } from './refusal.ts';
import { verbOfReport } from './report-verb.ts';

/** Gives queued tasks to workers, and writes down what workers report. */
export interface Dispatcher extends Pick<PoolOptions, 'onReports' | 'onLost'> {
  readonly onCommitted: CommitListener;
  /** Claims, right behind what wakes them, the tasks that wait in a worker's memory: one commit for both. */
  follow(owner: string, calls: readonly VerbCall[]): VerbCall[];
  /** Begins to claim. */
  start(log: Log, pool: Pool): void;
  /** Claims nothing more, and resolves when no copy runs any more or `ms` are over. */
  drain(ms: number): Promise<void>;
  /** Writes nothing more. */
  stop(): void;
}

/** Something to write for a copy. */
type Entry =
  | { kind: 'report'; taskId: string; fence: number; report: NumberedReport }
  | { kind: 'wake'; taskId: string; fence: number }
  /** Its worker is gone: to be failed, under whatever claim it is held by then. */
  | { kind: 'lost'; taskId: string; error: TaskError };

/** For a copy that has not reported anything yet. */
const NO_WORKER = -1;

/** @param onFatal called with what must never happen, when the process cannot be trusted any more */
export function createDispatcher(store: Store, onFatal: (error: unknown) => void): Dispatcher {
  let log: Log;
  let pool: Pool;
  let onIdle: (() => void) | null = null;
  let stopped = false;
  /** By worker and owner: what one copy reports must not be overtaken, and a commit has one owner. */
  const inboxes = new Map<string, Inbox<Entry>>();
  const reportOf = new WeakMap<VerbCall, NumberedReport>();
  const copies = createCopies({
    send: (command) => pool.send(command),
    reportOf: (call) => reportOf.get(call) ?? null,
    onStranded: (taskId) => lose(taskId, taskError('agent_error', 'The server refused what the task reported.')),
  });
  const claims = createClaims({ store, onSettled: tellIfIdle, onFatal });

  function tellIfIdle(): void {
    if (copies.running() === 0 && claims.underWay === 0) onIdle?.();
  }

  function put(worker: number, entries: readonly Entry[]): void {
    if (stopped) return;
    for (const [owner, own] of groupBy(entries, ({ taskId }) => copies.get(taskId)?.owner)) {
      if (owner !== undefined) inboxOf(worker, owner).put(own);
    }
  }

  function inboxOf(worker: number, owner: string): Inbox<Entry> {
    const key = `${worker} ${owner}`;
    const inbox =
      inboxes.get(key) ??
      createInbox<Entry>({
        write: (entries) => write(owner, entries),
        onIdle: () => inboxes.delete(key),
        onFatal,
      });
    inboxes.set(key, inbox);
    return inbox;
  }

  /** @returns what there was no space for */
  async function write(owner: string, entries: Entry[]): Promise<Entry[]> {
    const known = entries.flatMap((entry) => {
      const call = callOf(entry);
      return call === null ? [] : [{ entry, call }];
    });
    if (known.length === 0) return [];
    try {
      const calls = known.map(({ call }) => call);
      const committed = await log.commit(owner, calls).catch(unlessFull);
      if (committed === null) return entries;
      for (const [index, { entry, call }] of known.entries()) {
        if (committed.outcomes[index]?.ok === false) loseAgain(entry, call);
      }
      return [];
    } catch (error) {
      return writeSingly(owner, entries, error);
    }
  }

  /** Something in the batch is a bug. It costs the task that it is of, and nobody else. */
  async function writeSingly(owner: string, entries: Entry[], error: unknown): Promise<Entry[]> {
    const [first, second] = entries;
    if (first === undefined || (second === undefined && first.kind === 'lost') || stopped) throw error;
    if (second === undefined) {
      lose(first.taskId, taskError('agent_error', 'What the task reported could not be stored.'));
      return [];
    }
    for (const [index, entry] of entries.entries()) {
      const notStored = await write(owner, [entry]);
      if (notStored.length > 0) return entries.slice(index);
    }
    return [];
  }

  /** Null for a copy that is gone. */
  function callOf(entry: Entry): VerbCall | null {
    const { taskId } = entry;
    const copy = copies.get(taskId);
    if (copy === undefined) return null;
    if (entry.kind === 'lost') {
      return { verb: 'failTask', args: { taskId, fence: copy.fence, error: entry.error, when: 'now' } };
    }
    const { fence } = entry;
    if (copy.fence !== fence) return null;
    if (entry.kind === 'wake') return { verb: 'wakeTask', args: { taskId, fence } };
    const call = verbOfReport(entry.report);
    reportOf.set(call, entry.report);
    return call;
  }

  /** The copy was lost while a claim for it was on its way: it is the claim under which it has to fail. */
  function loseAgain(entry: Entry, call: VerbCall): void {
    if (entry.kind !== 'lost' || call.verb !== 'failTask') return;
    if (copies.get(entry.taskId)?.fence !== call.args.fence) lose(entry.taskId, entry.error);
  }

  function lose(taskId: string, error: TaskError): void {
    put(copies.get(taskId)?.worker ?? NO_WORKER, [{ kind: 'lost', taskId, error }]);
  }

  return {
    onReports(worker, reports) {
      const entries = reports.flatMap((report) => entryOf(report) ?? []);
      for (const entry of entries) {
        const copy = copies.get(entry.taskId);
        if (copy !== undefined) copy.worker = worker;
      }
      put(worker, entries);
    },

    onLost(lost, error) {
      for (const { taskId } of lost) lose(taskId, error);
    },

    follow(_owner, calls) {
      const [call, second] = calls;
      if (call === undefined || second !== undefined) return [];
      const taskId = copies.wokenBy(call);
      return taskId === null ? [] : claims.rightAway(taskId);
    },

    onCommitted(_owner, calls, committed) {
      copies.committed(calls, committed);
      tellIfIdle();
      claims.schedule();
    },

    start(theLog, thePool) {
      log = theLog;
      pool = thePool;
      claims.start(log, pool);
    },

    drain(ms) {
      claims.stop();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
        tellIfIdle();
      });
    },

    stop() {
      stopped = true;
      for (const inbox of inboxes.values()) inbox.stop();
    },
  };
}

function entryOf(report: Report): Entry | null {
  if ('n' in report) return { kind: 'report', taskId: report.taskId, fence: report.fence, report };
  return report.kind === 'wake' ? report : null;
}
