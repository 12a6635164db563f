import type { CancelReason, QuestionRecord, Resolution } from '../../model/question.ts';
import { assignExcluded, insertGiven, selectColumns } from './columns.ts';
import { fromText, toText } from './escape.ts';
import { statement } from './statement.ts';
import { question } from './task-schema.ts';

type QuestionRow = typeof question.$inferSelect;

/** A question as it is read: its row, and the id of its task. */
export type QuestionRead = QuestionRow & { taskId: string };

/** Reads whole questions; a `where` may name `question`, `task` and `log`. */
export const SELECT_QUESTION = `select ${selectColumns(question, 'question')}, task.id as "taskId"
  from holdfast.question join holdfast.task on task.key = question.task join holdfast.log on log.id = question.log`;

const RESOLUTION: ReadonlySet<string> = new Set(['status', 'resolvedAt', 'resolvedBy', 'reason', 'answers']);

/** Of several questions, given as `$1`: what is there already is only resolved. */
export const PUT_QUESTIONS = statement(
  `${insertGiven(
    question,
    { taskId: 'text' },
    {
      task: 'coalesce(given.task, (select key from holdfast.task where log = given.log and id = given."taskId"))',
    },
  )} on conflict (log, id) do update set ${assignExcluded(question, (field) => RESOLUTION.has(field))}`,
);

export function toQuestion(row: QuestionRead): QuestionRecord {
  return {
    id: row.id,
    taskId: row.taskId,
    conversationId: row.conversationId,
    name: fromText(row.name),
    items: JSON.parse(row.items),
    metadata: JSON.parse(row.metadata),
    askedAt: row.askedAt,
    expiresAt: row.expiresAt,
    resolution: toResolution(row),
  };
}

/** A row for {@link PUT_QUESTIONS}. @param taskKey null where the same transaction makes its task */
export function fromQuestion(record: QuestionRecord, logId: number, taskKey: number | null) {
  const { id, taskId, conversationId, name, items, metadata, askedAt, expiresAt, resolution } = record;
  return {
    log: logId,
    id,
    task: taskKey,
    taskId,
    conversationId,
    name: toText(name),
    status: resolution?.status ?? 'pending',
    askedAt,
    expiresAt,
    resolvedAt: resolution?.at ?? null,
    resolvedBy: resolution !== null && 'resolvedBy' in resolution ? toText(resolution.resolvedBy) : null,
    reason: resolution !== null && 'reason' in resolution ? toText(resolution.reason) : null,
    answers: resolution?.status === 'answered' ? JSON.stringify(resolution.answers) : null,
    metadata: JSON.stringify(metadata),
    items: JSON.stringify(items),
  };
}

/** The casts say what the row's `CHECK`s promise: each status comes with its own columns. */
function toResolution(row: QuestionRow): Resolution | null {
  const { status } = row;
  const at = row.resolvedAt as number;
  const reason = fromText(row.reason);
  const resolvedBy = fromText(row.resolvedBy);
  switch (status) {
    case 'pending':
      return null;
    case 'answered':
      return { status, at, answers: JSON.parse(row.answers as string), resolvedBy: resolvedBy as string };
    case 'declined':
      return { status, at, reason, resolvedBy: resolvedBy as string };
    case 'expired':
      return { status, at };
    case 'cancelled':
      return { status, at, reason: reason as CancelReason };
  }
}
