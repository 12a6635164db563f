import type { CopyReport } from '../worker/protocol.ts';

/** The code of a task in a worker's memory, as far as the main thread knows it. */
export interface Copy {
  readonly taskId: string;
  readonly owner: string;
  readonly parentId: string | null;
  /** The claim with which it was started. */
  readonly firstFence: number;
  fence: number;
  /**
   * `claiming`: it waits, and a claim for it is on its way. `lost`: it can do nothing any more, and what becomes of its task
   * is on its way.
   */
  status: 'running' | 'waiting' | 'claiming' | 'lost';
  /** The number of the last report that has come of it. */
  received: number;
  /** Which worker it was last heard of from; null before. */
  worker: number | null;
  /** When what it was claimed for last must be over, epoch ms by the store's clock. */
  deadlineAt: number | null;
}

/** A report of a copy with its place: the `n`-th of this copy. */
export type NumberedReport = { taskId: string; fence: number; n: number } & CopyReport;

export function isResting(status: Copy['status']): boolean {
  return status === 'waiting' || status === 'claiming';
}
