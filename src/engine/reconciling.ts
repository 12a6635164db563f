import type { HeldTask } from '../store/store.ts';
import type { Copies } from './copies.ts';
import type { Copy } from './copy.ts';
import { groupBy } from './group-by.ts';
import type { UnderWay } from './under-way.ts';

/**
 * Makes the copies here and the tasks that the store says this process holds the same: a copy whose task is held by nobody,
 * or by another, is dropped, and a task whose copy is not here is given back.
 *
 * @see docs/decisions/008-fence-every-write.md
 */
export interface Reconciling {
  /** Those that hold tasks: to be called before the store is asked. */
  running(): Holder[];
  /** @param before what {@link Reconciling.running} gave before `held` was asked for */
  reconcile(before: readonly Holder[], held: readonly HeldTask[]): Promise<void>;
}

/** A running copy and its claim. */
export interface Holder {
  copy: Copy;
  fence: number;
}

export interface ReconcilingOptions {
  copies: Pick<Copies, 'unfinished' | 'get' | 'cut'>;
  underWay: Pick<UnderWay, 'settled'>;
  /** Nothing here runs this task, unless it was told to stop and has not let go yet. */
  giveBack(task: HeldTask): void;
}

export function createReconciling({ copies, underWay, giveBack }: ReconcilingOptions): Reconciling {
  function cutIfThere({ copy, fence }: Holder): void {
    const isSame = copies.get(copy.taskId) === copy && copy.fence === fence && copy.status === 'running';
    if (isSame) copies.cut(copy.taskId, 'lost');
  }

  return {
    running: () =>
      copies
        .unfinished()
        .filter(({ status }) => status === 'running')
        .map((copy) => ({ copy, fence: copy.fence })),

    async reconcile(before, held) {
      const claims = new Map(held.map(({ taskId, fence }) => [taskId, fence]));
      const lost = before.filter(({ copy, fence }) => claims.get(copy.taskId) !== fence);
      const strange = held.filter(({ taskId, fence }) => copies.get(taskId)?.fence !== fence);
      const owners = groupBy([...lost.map(({ copy }) => copy), ...strange], ({ owner }) => owner);
      // A claim, a wait and an end may have been written that are not published yet.
      await Promise.all([...owners.keys()].map(underWay.settled));
      lost.forEach(cutIfThere);
      for (const task of strange) if (copies.get(task.taskId)?.fence !== task.fence) giveBack(task);
    },
  };
}
