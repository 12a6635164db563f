import { isTerminal, type TaskRecord } from '../model/task.ts';

/** Whether a task of a lane is in its line, where it can be blocked. */
export function isInLine({ status, runAt }: TaskRecord): boolean {
  return status === 'queued' && runAt === null;
}

/** Whether a lane has to be looked at again since a task of it is another than before; of a new one there is no before. */
export function movesLane(before: TaskRecord | undefined, after: TaskRecord): boolean {
  if (before === undefined || isInLine(before) !== isInLine(after) || before.held !== after.held) return true;
  return isTerminal(before.status) !== isTerminal(after.status);
}
