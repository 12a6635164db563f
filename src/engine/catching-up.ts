import { isTerminal } from '../model/task.ts';
import type { Cluster, CopyState } from '../store/cluster.ts';
import type { DropReason } from '../worker/protocol.ts';
import type { Copies } from './copies.ts';
import type { Copy } from './copy.ts';
import type { UnderWay } from './under-way.ts';

/** Brings to the copies here what other processes have written of their tasks: what was resolved, and that they are over. */
export interface CatchingUp {
  /** Reads where the tasks of an owner stand whose copies are here, and tells them. */
  read(owner: string): Promise<void>;
}

export interface CatchingUpOptions {
  cluster: Pick<Cluster, 'copies'>;
  copies: Pick<Copies, 'of' | 'get' | 'ord' | 'learn' | 'cut'>;
  underWay: Pick<UnderWay, 'settled'>;
  /** By the store's clock. */
  now(): number;
  /** These tasks are in the queue, and their copies wait here. */
  onWoken(owner: string, taskIds: readonly string[]): void;
}

/**
 * What a reading says of a copy. `over`: its task has ended or is in the queue, unless that is the doing of a commit of this
 * process that was not published yet. `taken`: another copy runs it.
 */
type Standing = 'as known' | 'woken' | 'over' | 'taken';

/** A copy whose task is over by what was read; null when the task is gone. */
interface Over {
  copy: Copy;
  fence: number;
  state: CopyState | null;
}

export function createCatchingUp({ cluster, copies, underWay, now, onWoken }: CatchingUpOptions): CatchingUp {
  function isThere(copy: Copy): boolean {
    return copies.get(copy.taskId) === copy && copy.status !== 'lost';
  }

  /** @returns the copies whose tasks are over, as far as that can be told */
  function takeIn(owner: string, asked: readonly Copy[], states: ReadonlyMap<string, CopyState>): Over[] {
    const woken: string[] = [];
    const over: Over[] = [];
    for (const copy of asked.filter(isThere)) {
      const { taskId, fence } = copy;
      const state = states.get(taskId) ?? null;
      if (state?.fence === fence) copies.learn(taskId, state.ord, state.resolutions);
      const standing = standingOf(copy, state);
      if (standing === 'taken') copies.cut(taskId, 'lost');
      else if (standing === 'woken') woken.push(taskId);
      else if (standing === 'over') over.push({ copy, fence, state });
    }
    if (woken.length > 0) onWoken(owner, woken);
    return over;
  }

  function cutIfOver({ copy, fence, state }: Over): void {
    if (!isThere(copy) || copy.fence !== fence) return;
    // One that has come to wait meanwhile is woken.
    if (state?.status === 'queued' && copy.status !== 'running') return;
    copies.cut(copy.taskId, reasonOf(copy, state));
  }

  function reasonOf({ deadlineAt }: Copy, state: CopyState | null): DropReason {
    if (state === null || state.status === 'cancelled') return 'cancelled';
    return deadlineAt !== null && now() >= deadlineAt ? 'timeout' : 'lost';
  }

  return {
    async read(owner) {
      const asked = copies.of(owner);
      if (asked.length === 0) return;
      const known = asked.map(({ taskId }) => ({ taskId, ord: copies.ord(taskId) }));
      const states = await cluster.copies(owner, known);
      const over = takeIn(owner, asked, new Map(states.map((state) => [state.taskId, state])));
      if (over.length === 0) return;
      // What this process has written itself, its copies hear of in the order of the commits.
      await underWay.settled(owner);
      over.forEach(cutIfOver);
    },
  };
}

/** @param state null when the task is gone */
function standingOf({ fence, status }: Copy, state: CopyState | null): Standing {
  if (state === null) return 'over';
  // While a claim for it is on its way, that may be its own: what comes of it will tell.
  if (state.fence > fence) return status === 'claiming' ? 'as known' : 'taken';
  if (state.fence < fence) return 'as known';
  if (isTerminal(state.status)) return 'over';
  if (state.status !== 'queued' || status === 'claiming') return 'as known';
  return status === 'waiting' ? 'woken' : 'over';
}
