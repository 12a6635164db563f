import type { JournalRow } from '../../model/journal.ts';
import { assignExcluded, insertGiven } from './columns.ts';
import { fromText, toText } from './escape.ts';
import { statement } from './statement.ts';
import { journal } from './task-schema.ts';

export type JournalRead = typeof journal.$inferSelect;

/** Of several rows, given as `$1`: each takes the place of the one that has its key. */
export const PUT_ROWS = statement(
  `${insertGiven(
    journal,
    { log: 'bigint', taskId: 'text' },
    {
      task: 'coalesce(given.task, (select key from holdfast.task where log = given.log and id = given."taskId"))',
    },
  )} on conflict (task, key) do update set ${assignExcluded(journal, (field) => field !== 'task' && field !== 'key')}`,
);

export function toRow(row: JournalRead, taskId: string): JournalRow {
  const { kind, status, value, askedAt, ord, emitsDone, at, tries, once, dueAt, messageId, messageAfterSeq } = row;
  const message = messageId === null || messageAfterSeq === null ? null : { id: messageId, afterSeq: messageAfterSeq };
  const key = fromText(row.key);
  return { taskId, key, kind, status, value, askedAt, ord, emitsDone, at, tries, once, dueAt, message };
}

/** A row for {@link PUT_ROWS}. @param taskKey null where the same transaction makes its task */
export function fromRow({ message, key, ...rest }: JournalRow, logId: number, taskKey: number | null) {
  const begun = { messageId: message?.id ?? null, messageAfterSeq: message?.afterSeq ?? null };
  return { ...rest, ...begun, key: toText(key), task: taskKey, log: logId };
}
