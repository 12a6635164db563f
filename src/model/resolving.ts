import type { NewEvent } from './event.ts';
import type { JournalRow, KeyResolution } from './journal.ts';
import { resumed } from './resume.ts';
import { isTerminal, type TaskRecord } from './task.ts';
import { accept, type Decision } from './verb.ts';

/** What comes of a row's resolution, all of it to be written together. */
export interface Resolved {
  task: TaskRecord;
  row: JournalRow;
  /** That the task goes on, if it was waiting. */
  events: NewEvent[];
  resolution: KeyResolution;
}

/**
 * Gives a pending row what it came to and its place in the task's order, and wakes the task if it waits, for whatever it
 * waits: its copy finds out whether there is anything to do. Every resolution of every row goes through here. A reopened
 * spawn keeps the place that it has.
 *
 * @param task the row's, as it is by then: unfinished
 * @param to `value` is JSON text, see {@link JournalRow.value}
 * @throws Error when there is nothing to resolve: a bug in a verb
 */
export function resolveRow(
  task: TaskRecord,
  row: JournalRow,
  to: { status: KeyResolution['status']; value: string },
  now: number,
): Resolved {
  const { taskId, key } = row;
  if (row.status !== 'pending') throw new Error(`${key} of ${taskId} is ${row.status} already.`);
  if (isTerminal(task.status)) throw new Error(`${key} of ${taskId} can come to nothing: the task is ${task.status}.`);
  const place = { ord: row.ord ?? task.ord + 1, emitsDone: row.emitsDone ?? task.emits, at: row.at ?? now };
  const woken = resumed({ ...task, ord: Math.max(task.ord, place.ord) }, now);
  return {
    task: woken.task,
    row: { ...row, ...to, ...place, dueAt: null, message: null },
    events: woken.events,
    resolution: { taskId, key, ...place, status: to.status, value: row.kind === 'step' ? null : to.value },
  };
}

/** The decision of a verb that does nothing but resolve one row. */
export function acceptResolved({ task, row, events, resolution }: Resolved): Decision<null> {
  return accept(null, { changes: { tasks: [task], rows: [row] }, events, resolutions: [resolution] });
}
