import type { VerbCall } from '../model/batch.ts';
import type { Store } from '../store/store.ts';
import type { Pool } from '../worker/pool.ts';
import { groupBy } from './group-by.ts';
import type { Log } from './log.ts';
import { unlessFull } from './refusal.ts';

/** Claims queued tasks as slots are free. */
export interface Claims {
  /** Looks soon for something to claim; many calls are one look. */
  schedule(): void;
  start(log: Log, pool: Pool): void;
  stop(): void;
  /** Claims one task if a slot is free just now: a call for the commit that makes it claimable. Many at once may take a few slots too many. */
  rightAway(taskId: string): VerbCall[];
  /** How many are on their way. */
  readonly underWay: number;
}

const AT_ONCE = 100;
/** After want of space. */
const RETRY_MS = 1000;
/** Of an agent that is not here: its task fails `unknown_agent` when it is begun. */
const UNKNOWN_VERSION = '';

export interface ClaimsOptions {
  store: Store;
  /** Called when a round of claims has been settled. */
  onSettled(): void;
  onFatal(error: unknown): void;
}

export function createClaims({ store, onSettled, onFatal }: ClaimsOptions): Claims {
  const claiming = new Set<string>();
  let running: { log: Log; pool: Pool } | null = null;
  let scheduled = false;

  function schedule(): void {
    if (scheduled || running === null) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      if (running !== null) claim(running.log, running.pool);
    });
  }

  function claim(log: Log, pool: Pool): void {
    const free = Math.min(pool.freeSlots() - claiming.size, AT_ONCE);
    if (free <= 0) return;
    const candidates = store.claimable(free + claiming.size).filter(({ taskId }) => !claiming.has(taskId));
    for (const [owner, tasks] of groupBy(candidates.slice(0, free), (candidate) => candidate.owner)) {
      for (const { taskId } of tasks) claiming.add(taskId);
      const calls = tasks.map(({ taskId, agent }): VerbCall => {
        const version = pool.agents.find(({ name }) => name === agent)?.version ?? UNKNOWN_VERSION;
        return { verb: 'claimTask', args: { taskId, version } };
      });
      log
        .commit(owner, calls)
        .catch(unlessFull)
        .then((committed) => {
          for (const { taskId } of tasks) claiming.delete(taskId);
          if (committed === null) setTimeout(schedule, RETRY_MS).unref();
          else schedule();
          onSettled();
        })
        .catch(onFatal);
    }
  }

  return {
    schedule,
    start(log, pool) {
      running = { log, pool };
      schedule();
    },
    stop() {
      running = null;
    },
    rightAway(taskId) {
      if (running === null || running.pool.freeSlots() <= claiming.size) return [];
      // It was claimed before, so its version is known.
      return [{ verb: 'claimTask', args: { taskId, version: UNKNOWN_VERSION } }];
    },
    get underWay() {
      return claiming.size;
    },
  };
}
