import type { JournalRow, RowKey, RowKind } from './journal.ts';
import type { View } from './view.ts';

/** What an agent's code called for, as it is first written down: nothing has come of it yet. */
export function newRow(
  { taskId, key }: RowKey,
  called: Pick<JournalRow, 'kind' | 'askedAt'> & Partial<Pick<JournalRow, 'once' | 'dueAt'>>,
): JournalRow {
  return {
    taskId,
    key,
    status: 'pending',
    value: null,
    ord: null,
    emitsDone: null,
    at: null,
    tries: 0,
    once: false,
    dueAt: null,
    message: null,
    ...called,
  };
}

/**
 * The row under a key, which must be loaded; null when there is none.
 *
 * @throws Error when it is of another kind: the handle finds that out before it reports anything
 */
export function rowOf(view: View, at: RowKey, kind: RowKind): JournalRow | null {
  const row = view.row(at);
  if (row !== null && row.kind !== kind)
    throw new Error(`${at.key} of ${at.taskId} is of kind ${row.kind}, not ${kind}.`);
  return row;
}

/** @throws Error when there is a row under the key: a call whose row is there is never reported as a new one */
export function mustBeFree(view: View, { taskId, key }: RowKey): void {
  if (view.row({ taskId, key }) !== null) throw new Error(`There is a row under ${key} of ${taskId} already.`);
}
