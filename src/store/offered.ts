import type { TaskRecord } from '../model/task.ts';

/** A process that has died so often in a row while a task ran has made it a suspect. */
export const SUSPECT_CRASHES = 2;

/** A task as it is stored: `blocked` stands on its row alone. */
export interface Queueing {
  record: TaskRecord;
  blocked: boolean;
}

/** 1 for a task that a claim may take, as the engines' `CLAIMABLE` says of its row, else 0. */
export function claimableCount({ record, blocked }: Queueing): number {
  const { status, held, runAt, crashes } = record;
  return status === 'queued' && !blocked && !held && runAt === null && crashes < SUSPECT_CRASHES ? 1 : 0;
}
