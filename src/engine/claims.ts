import { failpoint } from '../failpoint.ts';
import type { VerbCall } from '../model/batch.ts';
import type { Store } from '../store/store.ts';
import type { Pool } from '../worker/pool.ts';
import type { Contest } from './contest.ts';
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
  /** The same for tasks that another process has made claimable. */
  claimWarm(owner: string, taskIds: readonly string[]): void;
  /** Whether this process has the agent; where it is the only one, it is asked for all. */
  knows(agent: string): boolean;
  /** How many more claims may be made now. */
  room(): number;
  /** Leaves so many slots to {@link Claims.claim}. */
  reserve(slots: number): void;
  /** Claims these, of which there may be no more than there is room. */
  claim(candidates: readonly Candidate[]): void;
  /** The claim of a task was decided: made, or refused. */
  settled(taskId: string, isMade: boolean): void;
  /** How many are on their way. */
  readonly underWay: number;
}

const AT_ONCE = 100;
/** While tasks queue for a slot. */
const AGAIN_MS = 100;
/** After want of space or of the database. */
const RETRY_MS = 1000;
/** Of an agent that is not here: its task fails `unknown_agent` when it is begun. */
const UNKNOWN_VERSION = '';

export interface ClaimsOptions {
  store: Pick<Store, 'claimable' | 'cluster' | 'node'>;
  copies: Pick<Copies, 'claim' | 'unclaim' | 'busy' | 'adopting'>;
  contest: Contest;
  /** Whether claims may be made. Default: always. */
  mayClaim?: () => boolean;
  /** How many tasks of one owner may run at once. Default: as many as there are slots. */
  maxRunningPerOwner?: number | undefined;
  /** Called when claims have been settled. */
  onSettled(): void;
  onFatal(error: unknown): void;
}

export function createClaims(options: ClaimsOptions): Claims {
  const { store, copies, maxRunningPerOwner = Number.POSITIVE_INFINITY, onSettled, onFatal } = options;
  const { contest, mayClaim = () => true } = options;
  /** The owners of tasks whose claims are on their way. */
  const claiming = new Map<string, string>();
  let running: { log: Log; pool: Pool } | null = null;
  let scheduled = false;
  /** `again`: there is a reason to look that the one under way may not have seen. */
  let looking: 'no' | 'once' | 'again' = 'no';
  /** Tasks whose claims were settled during the look: it may have seen them in the queue. */
  const settledMeanwhile = new Set<string>();
  /** Whether the last look has left tasks in the queue, as far as it could see. */
  let isCrowded = false;
  let reserved = 0;
  let lookAgain: NodeJS.Timeout | null = null;

  function room(): number {
    if (running === null || !mayClaim()) return 0;
    return running.pool.freeSlots() - claiming.size - copies.adopting();
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

  /** One look at a time: two that overlap would see the same slots free. */
  function look(): void {
    if (running === null) return;
    if (looking !== 'no') {
      looking = 'again';
      return;
    }
    looking = 'once';
    settledMeanwhile.clear();
    lookOnce(running.pool)
      .catch((error: unknown) => {
        if (running === null) return;
        unlessFull(error);
        setTimeout(schedule, RETRY_MS).unref();
      })
      .then(() => {
        const again = looking === 'again';
        looking = 'no';
        if (again) look();
      })
      .catch(onFatal);
  }

  async function lookOnce(pool: Pool): Promise<void> {
    const most = free();
    isCrowded = most <= 0 || claimSome(await offered(pool, most), most);
    // A slot may become free without a commit: a thread comes up, or is given up on. So may what was left to others.
    const isMore = isCrowded || contest.spared > 0;
    if (isMore && lookAgain === null && running !== null) lookAgain = setTimeout(lookLater, AGAIN_MS).unref();
  }

  /** How many slots may be filled by a look. */
  function free(): number {
    return Math.min(room() - reserved, AT_ONCE);
  }

  /** One more than can be claimed, to see whether some are left. */
  function offered({ agents }: Pool, most: number): Promise<Candidate[]> {
    const full = new Set([...roomOfOwners()].filter(([, left]) => left <= 0).map(([owner]) => owner));
    const known = store.cluster === null ? null : agents.map(({ name }) => name);
    return store.claimable(most + claiming.size + contest.spared + 1, full, known);
  }

  /**
   * Claims as many as there are slots free: some may have been taken while the store was asked.
   *
   * @returns whether more are left in the queue
   */
  function claimSome(found: readonly Candidate[], most: number): boolean {
    const queued = found.filter(({ taskId }) => !claiming.has(taskId) && !settledMeanwhile.has(taskId));
    const candidates = fitting(contest.open(queued), roomOfOwners());
    const count = Math.max(0, Math.min(candidates.length, most, free()));
    const first = contest.begin(candidates.length, count);
    claim(candidates.slice(first, first + count));
    return candidates.length > count;
  }

  function lookLater(): void {
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

  /** Of tasks whose copies wait in memory, as many as there are slots free. */
  function takeable(owner: string, taskIds: readonly string[]): string[] {
    if (isCrowded) return [];
    const most = Math.min(room() - reserved, roomOfOwners().get(owner) ?? maxRunningPerOwner);
    return taskIds.filter((taskId) => !claiming.has(taskId)).slice(0, Math.max(0, most));
  }

  function begin(owner: string, taskId: string, version: string): VerbCall {
    claiming.set(taskId, owner);
    return { verb: 'claimTask', args: { taskId, version, warm: copies.claim(taskId), node: store.node } };
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
      const taken = takeable(owner, taskIds);
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
    claimWarm(owner, taskIds) {
      claim(takeable(owner, taskIds).map((taskId) => ({ owner, taskId, agent: '' })));
    },
    knows(agent) {
      return store.cluster === null || (running?.pool.agents.some(({ name }) => name === agent) ?? false);
    },
    settled(taskId, isMade) {
      claiming.delete(taskId);
      if (!isMade && store.cluster !== null) contest.lost(taskId);
      if (looking !== 'no') settledMeanwhile.add(taskId);
    },
    get underWay() {
      return claiming.size;
    },
  };
}
