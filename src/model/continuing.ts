import { cutJournal, dropRows, newestOrd } from './cut.ts';
import type { JournalRow } from './journal.ts';
import type { TaskRecord } from './task.ts';
import type { View } from './view.ts';

/** What a task begins with that goes on where another, which has ended, came to. */
export interface Continuation {
  /** For the new task's journal, but for its id. */
  rows: JournalRow[];
  more: Partial<TaskRecord>;
}

/** @param former its journal is loaded */
export function continuationOf(view: View, former: TaskRecord): Continuation {
  const { id: retryOf, seed, originAt, version } = former;
  const { rows, marks, inbox } = journalFor(view, former);
  return { rows, more: { retryOf, seed, originAt, version, marks, inbox, ord: newestOrd(rows) } };
}

/** What is resolved, and a reopened spawn; what was pending is asked anew. */
function journalFor(view: View, task: TaskRecord) {
  const resolved = dropRows({ ...task, rows: view.rows(task.id) }, isUnresolved, []);
  return task.cut === null ? resolved : cutJournal(resolved, task.cut);
}

function isUnresolved({ status, ord }: JournalRow): boolean {
  return status === 'pending' && ord === null;
}
