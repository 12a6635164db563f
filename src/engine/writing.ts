import type { VerbCall } from '../model/batch.ts';
import type { Lease } from '../model/fence.ts';
import { groupBy } from './group-by.ts';
import type { Log } from './log.ts';
import { unlessFull } from './refusal.ts';
import { createWriteQueue, type WriteQueue, type Written } from './write-queue.ts';

/** Something to write of a task. */
export interface Entry extends Lease {
  call: VerbCall;
  /** Of no use once its copy is gone. */
  isReport: boolean;
}

/** Writes what comes of the workers: each copy's in its order, and all that has gathered in one commit. */
export interface Writing {
  /** By worker and owner: what one copy reports must not be overtaken, and a commit has one owner. */
  put(worker: number, owner: string, entries: readonly Entry[]): void;
  start(log: Log): void;
  /** Resolves when all is written, or after `ms`, and writes nothing more. */
  stop(ms: number): Promise<void>;
}

export interface WritingOptions {
  /** Whether the copy that has reported is still there. */
  isLive(copy: Lease): boolean;
  /** A later report of this copy was written without an earlier one. Nothing of it was acknowledged. */
  onOvertaken(copy: Lease): void;
  /** What a copy reported was a bug: it was not written. */
  onBroken(copy: Lease, error: unknown): void;
  onFatal(error: unknown): void;
}

interface Attempt {
  written: Written;
  error: unknown;
}

const NOTHING_WRITTEN: Attempt = { written: 'broken', error: null };

export function createWriting({ isLive, onOvertaken, onBroken, onFatal }: WritingOptions): Writing {
  const queues = new Map<string, WriteQueue<Entry>>();
  let log: Log;
  let onIdle: (() => void) | null = null;
  let stopped = false;

  function queueOf(worker: number, owner: string): WriteQueue<Entry> {
    const key = `${worker} ${owner}`;
    const queue =
      queues.get(key) ??
      createWriteQueue<Entry>({
        write: (entries) => write(owner, entries),
        repair: (broken, overtaken) => repair(owner, broken, overtaken),
        onIdle() {
          queues.delete(key);
          if (queues.size === 0) onIdle?.();
        },
        onFatal,
      });
    queues.set(key, queue);
    return queue;
  }

  async function write(owner: string, entries: Entry[]): Promise<Written> {
    return (await tryToWrite(owner, entries)).written;
  }

  async function tryToWrite(owner: string, entries: Entry[]): Promise<Attempt> {
    const calls = entries.filter((entry) => !entry.isReport || isLive(entry)).map(({ call }) => call);
    if (calls.length === 0) return { written: 'stored', error: null };
    try {
      const committed = await log.commit(owner, calls).catch(unlessFull);
      return { written: committed === null ? 'full' : 'stored', error: null };
    } catch (error) {
      return { written: 'broken', error };
    }
  }

  /** Something in the batch is a bug. It costs the task that it is of, and nobody else. */
  async function repair(owner: string, broken: Entry[], overtaken: Entry[]): Promise<Entry[]> {
    const notStored: Entry[] = [];
    const late = new Set(overtaken.filter(({ isReport }) => isReport).map(({ taskId }) => taskId));
    for (const own of groupBy(broken, (entry) => entry.taskId).values()) {
      notStored.push(...(await repairOne(owner, own, late)));
    }
    return notStored;
  }

  async function repairOne(owner: string, entries: Entry[], late: ReadonlySet<string>): Promise<Entry[]> {
    const report = entries.find(({ isReport }) => isReport);
    const isLate = report !== undefined && late.has(report.taskId);
    const { written, error } = isLate ? NOTHING_WRITTEN : await tryToWrite(owner, entries);
    if (written === 'stored') return [];
    if (written === 'full') return entries;
    if (report === undefined) throw error;
    if (isLate) onOvertaken(report);
    else onBroken(report, error);
    // What the engine has decided of the task holds, whatever its copy said.
    const decisions = entries.filter(({ isReport }) => !isReport);
    return decisions.length === 0 ? [] : repairOne(owner, decisions, late);
  }

  return {
    put(worker, owner, entries) {
      if (!stopped && entries.length > 0) queueOf(worker, owner).put(entries);
    },
    start(theLog) {
      log = theLog;
    },
    async stop(ms) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
        if (queues.size === 0) onIdle();
      });
      stopped = true;
      for (const queue of queues.values()) queue.stop();
    },
  };
}
