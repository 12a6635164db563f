import type { TaskRecord } from '../../model/task.ts';

/** A process that has died so often in a row while a task ran has made it a suspect. */
export const SUSPECT_CRASHES = 2;

const OFFERED = `status = 'queued' and blocked = 0 and held = 0 and run_at is null`;

/** What a claim may take, as conditions on a task's row. Statements use them as they stand, and so find their indexes. */
export const CLAIMABLE = `${OFFERED} and crashes < ${SUSPECT_CRASHES}`;
export const SUSPECT = `${OFFERED} and crashes >= ${SUSPECT_CRASHES}`;
export const SUSPECT_RUNNING = `status = 'running' and crashes >= ${SUSPECT_CRASHES}`;

/** A task as it is stored: `blocked` stands on its row alone. */
export interface Queueing {
  record: TaskRecord;
  blocked: boolean;
}

/** 1 for a task that is {@link CLAIMABLE}, else 0. */
export function claimableCount({ record, blocked }: Queueing): number {
  const { status, held, runAt, crashes } = record;
  return status === 'queued' && !blocked && !held && runAt === null && crashes < SUSPECT_CRASHES ? 1 : 0;
}
