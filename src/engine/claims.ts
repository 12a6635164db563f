import { failpoint } from '../failpoint.ts';
import type { VerbCall } from '../model/batch.ts';
import type { Store } from '../store/store.ts';
import type { Pool } from '../worker/pool.ts';
import type { Copies } from './copies.ts';
import { groupBy } from './group-by.ts';
import type { Followers, Log } from './log.ts';
import { unlessFull } from './refusal.ts';

/** A queued task that may be claimed. */
export interface Candidate {
  owner: string;
  taskId: string;
  agent: string;
}

/** Claims queued tasks as slots are free, and never more. */
export interface Claims {
  /** Looks soon for something to claim; many calls are one look. */
  schedule(): void;
  start(log: Log, pool: Pool): void;
  stop(): void;
  /**
   * Claims tasks of an owner whose copies wait in memory, in the commit that makes them claimable: as many as there are
   * slots free just now, and none while others have queued for one.
   */
  rightAway(owner: string, taskIds: readonly string[]): Followers | null;
  /** How many more claims may be made now. */
  room(): number;
  /** Leaves so many slots to {@link Claims.claim}. */
  reserve(slots: number): void;
  /** Claims these, of which there may be no more than there is room. */
  claim(candidates: readonly Candidate[]): void;
  /** The claim of a task was decided. */
  settled(taskId: string): void;
  /** How many are on their way. */
  readonly underWay: number;
}

const AT_ONCE = 100;
/** While tasks queue for a slot. */
const AGAIN_MS = 100;
/** After want of space. */
const RETRY_MS = 1000;
/** Of an agent that is not here: its task fails `unknown_agent` when it is begun. */
const UNKNOWN_VERSION = '';

export interface ClaimsOptions {
  store: Pick<Store, 'claimable'>;
  copies: Pick<Copies, 'claim' | 'unclaim' | 'busy'>;
  /** How many tasks of one owner may run at once. Default: as many as there are slots. */
  maxRunningPerOwner?: number | undefined;
  /** Called when claims have been settled. */
  onSettled(): void;
  onFatal(error: unknown): void;
}

export function createClaims(options: ClaimsOptions): Claims {
  const { store, copies, maxRunningPerOwner = Number.POSITIVE_INFINITY, onSettled, onFatal } = options;
  /** The owners of tasks whose claims are on their way. */
  const claiming = new Map<string, string>();
  let running: { log: Log; pool: Pool } | null = null;
  let scheduled = false;
  /** Whether the last look has left tasks in the queue, as far as it could see. */
  let isCrowded = false;
  let reserved = 0;
  let lookAgain: NodeJS.Timeout | null = null;

  function room(): number {
    return running === null ? 0 : running.pool.freeSlots() - claiming.size;
  }

  /** How many more tasks each owner may have claimed who has any. */
  function roomOfOwners(): Map<string, number> {
    const room = new Map<string, number>();
    if (maxRunningPerOwner === Number.POSITIVE_INFINITY) return room;
    for (const [owner, running] of copies.busy) room.set(owner, maxRunningPerOwner - running);
    for (const owner of claiming.values()) room.set(owner, (room.get(owner) ?? maxRunningPerOwner) - 1);
    return room;
  }

  /** Those that are not too many of their owners'. */
  function fitting(candidates: readonly Candidate[], room: Map<string, number>): Candidate[] {
    return candidates.filter(({ owner }) => {
      const left = room.get(owner) ?? maxRunningPerOwner;
      room.set(owner, left - 1);
      return left > 0;
    });
  }

  function schedule(): void {
    if (scheduled || running === null) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      look();
    });
  }

  function look(): void {
    if (running === null) return;
    const free = Math.min(room() - reserved, AT_ONCE);
    if (free > 0) {
      const room = roomOfOwners();
      const full = new Set([...room].filter(([, left]) => left <= 0).map(([owner]) => owner));
      const offered = store.claimable(free + claiming.size + 1, full).filter(({ taskId }) => !claiming.has(taskId));
      const candidates = fitting(offered, room);
      isCrowded = candidates.length > free;
      claim(candidates.slice(0, free));
    } else {
      isCrowded = true;
    }
    // A slot may become free without a commit: a thread comes up, or is given up on.
    if (isCrowded && lookAgain === null) lookAgain = setTimeout(lookOnce, AGAIN_MS).unref();
  }

  function lookOnce(): void {
    lookAgain = null;
    look();
  }

  function claim(candidates: readonly Candidate[]): void {
    if (running === null) return;
    const { log, pool } = running;
    for (const [owner, tasks] of groupBy(candidates, (candidate) => candidate.owner)) {
      const calls = tasks.map(({ taskId, agent }): VerbCall => {
        const version = pool.agents.find(({ name }) => name === agent)?.version ?? UNKNOWN_VERSION;
        return begin(owner, taskId, version);
      });
      failpoint?.('claim-not-asked');
      log
        .commit(owner, calls)
        .catch((error: unknown) => {
          for (const { taskId } of tasks) giveUp(taskId);
          return unlessFull(error);
        })
        .then((committed) => {
          if (committed === null) setTimeout(schedule, RETRY_MS).unref();
          onSettled();
        })
        .catch(onFatal);
    }
  }

  function begin(owner: string, taskId: string, version: string): VerbCall {
    claiming.set(taskId, owner);
    return { verb: 'claimTask', args: { taskId, version, warm: copies.claim(taskId) } };
  }

  /** Nothing was written: it is as if the claim had not been tried. */
  function giveUp(taskId: string): void {
    claiming.delete(taskId);
    copies.unclaim(taskId);
  }

  return {
    schedule,
    start(log, pool) {
      running = { log, pool };
      schedule();
    },
    stop() {
      running = null;
      if (lookAgain !== null) clearTimeout(lookAgain);
    },
    rightAway(owner, taskIds) {
      if (isCrowded) return null;
      const most = Math.min(room() - reserved, roomOfOwners().get(owner) ?? maxRunningPerOwner);
      const taken = taskIds.filter((taskId) => !claiming.has(taskId)).slice(0, Math.max(0, most));
      if (taken.length === 0) return null;
      // They were claimed before, so their versions are known.
      const calls = taken.map((taskId) => begin(owner, taskId, UNKNOWN_VERSION));
      return {
        calls,
        onFailed() {
          for (const taskId of taken) giveUp(taskId);
          onSettled();
        },
      };
    },
    room,
    reserve(slots) {
      reserved = slots;
    },
    claim,
    settled: (taskId) => void claiming.delete(taskId),
    get underWay() {
      return claiming.size;
    },
  };
}
