import type { CancelReason, QuestionRecord, Resolution } from '../../model/question.ts';
import { insertInto, selectColumns } from './columns.ts';
import { question } from './task-schema.ts';

type QuestionRow = typeof question.$inferSelect;

/** A question as it is read: its row, and the id of its task. */
export type QuestionRead = QuestionRow & { taskId: string };

/** Reads whole questions; a `where` may name `question`, `task` and `log`. */
export const SELECT_QUESTION = `select ${selectColumns(question, 'question')}, task.id as taskId
  from question join task on task.key = question.task join log on log.id = question.log`;

export const INSERT_QUESTION = insertInto(question, 'question');

export function toQuestion(row: QuestionRead): QuestionRecord {
  return {
    id: row.id,
    taskId: row.taskId,
    conversationId: row.conversationId,
    name: row.name,
    items: JSON.parse(row.items),
    metadata: JSON.parse(row.metadata),
    askedAt: row.askedAt,
    expiresAt: row.expiresAt,
    resolution: toResolution(row),
  };
}

export function fromQuestion(record: QuestionRecord, logId: number, taskKey: number): Omit<QuestionRow, 'key'> {
  const { id, conversationId, name, items, metadata, askedAt, expiresAt, resolution } = record;
  return {
    log: logId,
    id,
    task: taskKey,
    conversationId,
    name,
    status: resolution?.status ?? 'pending',
    askedAt,
    expiresAt,
    resolvedAt: resolution?.at ?? null,
    resolvedBy: resolution !== null && 'resolvedBy' in resolution ? resolution.resolvedBy : null,
    reason: resolution !== null && 'reason' in resolution ? resolution.reason : null,
    answers: resolution?.status === 'answered' ? JSON.stringify(resolution.answers) : null,
    metadata: JSON.stringify(metadata),
    items: JSON.stringify(items),
  };
}

/** The casts say what the row's `CHECK`s promise: each status comes with its own columns. */
function toResolution(row: QuestionRow): Resolution | null {
  const { status, reason } = row;
  const at = row.resolvedAt as number;
  switch (status) {
    case 'pending':
      return null;
    case 'answered':
      return { status, at, answers: JSON.parse(row.answers as string), resolvedBy: row.resolvedBy as string };
    case 'declined':
      return { status, at, reason, resolvedBy: row.resolvedBy as string };
    case 'expired':
      return { status, at };
    case 'cancelled':
      return { status, at, reason: reason as CancelReason };
  }
}
