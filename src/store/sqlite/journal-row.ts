import type { JournalRow, RowKind, RowStatus } from '../../model/journal.ts';
import { assignColumns, insertInto } from './columns.ts';
import { journal } from './task-schema.ts';

/**
 * A row as it is read, without its task, which whoever asks knows: in an array, since a journal can have thousands, and as
 * objects they would take half as long again.
 */
export type JournalRead = [
  key: string,
  kind: RowKind,
  status: RowStatus,
  value: string | null,
  askedAt: number,
  ord: number | null,
  emitsDone: number | null,
  at: number | null,
  tries: number,
  once: number,
  dueAt: number | null,
  messageId: string | null,
  messageAfterSeq: number | null,
];

/** Reads rows of journals, in no order. */
export const SELECT_ROW = `select key, kind, status, value, asked_at, ord, emits_done, at, tries, once, due_at, message_id,
  message_after_seq from journal`;

/**
 * A row takes the place of the one that has its key. Of a value that stays, and with it the size of the row, SQLite finds
 * that it stands there, and writes none of its pages.
 */
export const PUT_ROW = `${insertInto(journal, 'journal')}
  on conflict (task, key) do update set ${assignColumns(journal, (field) => field !== 'task' && field !== 'key')}`;

export function toRow(
  [key, kind, status, value, askedAt, ord, emitsDone, at, tries, once, dueAt, messageId, afterSeq]: JournalRead,
  taskId: string,
): JournalRow {
  const message = messageId === null || afterSeq === null ? null : { id: messageId, afterSeq };
  return { taskId, key, kind, status, value, askedAt, ord, emitsDone, at, tries, once: once === 1, dueAt, message };
}

export function fromRow(
  { taskId: _taskId, once, message, ...rest }: JournalRow,
  taskKey: number,
): typeof journal.$inferSelect {
  return {
    ...rest,
    task: taskKey,
    once: Number(once),
    messageId: message?.id ?? null,
    messageAfterSeq: message?.afterSeq ?? null,
  };
}
