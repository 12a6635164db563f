import { getTableColumns } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { CancelReason, QuestionRecord, Resolution } from '../../model/question.ts';
import type { TaskRecord } from '../../model/task.ts';
import type { AgentDescription } from '../store.ts';
import { type agent, question, task } from './schema.ts';

type TaskRow = typeof task.$inferSelect;
type QuestionRow = typeof question.$inferSelect;
export type AgentRow = typeof agent.$inferSelect;

/** A task as it is read: its row, and its owner out of the log's. */
export type TaskRead = TaskRow & { owner: string };
/** A question as it is read: its row, and the id of its task. */
export type QuestionRead = QuestionRow & { taskId: string };

/** Reads whole tasks; a `where` may name `task` and `log`. */
export const SELECT_TASK = `select ${columnsOf(task, 'task')}, log.owner as owner from task join log on log.id = task.log`;

/** Reads whole questions; a `where` may name `question`, `task` and `log`. */
export const SELECT_QUESTION = `select ${columnsOf(question, 'question')}, task.id as taskId
  from question join task on task.key = question.task join log on log.id = question.log`;

export function toTask(row: TaskRead): TaskRecord {
  const { key: _key, log: _log, blocked: _blocked, progress, error, metadata, input, output, ...same } = row;
  return {
    ...same,
    input: input === null ? null : JSON.parse(input),
    output: output === null ? null : JSON.parse(output),
    error: error === null ? null : JSON.parse(error),
    progress: progress === null ? null : JSON.parse(progress),
    metadata: JSON.parse(metadata),
  };
}

/** A new task's row but for its `key`, which SQLite gives. It is unblocked until its lane has been looked at. */
export function newTaskRow(record: TaskRecord, logId: number): Omit<TaskRow, 'key'> {
  const { agent, parentId, rootId, createdAt, input, metadata } = record;
  const fixed = { agent, parentId, rootId, createdAt, input: text(input), metadata: JSON.stringify(metadata) };
  return { ...fixed, ...taskUpdate(record, logId), blocked: 0 };
}

/** What of a task changes in its life, and what finds it. Its input can be large and is not written again. */
export function taskUpdate(record: TaskRecord, logId: number): Omit<TaskRow, 'key' | 'blocked' | FixedField> {
  const { owner: _o, agent: _a, parentId: _p, rootId: _r, createdAt: _c, input: _i, metadata: _m, ...same } = record;
  const { output, error, progress } = record;
  return { ...same, log: logId, output: text(output), error: text(error), progress: text(progress) };
}

type FixedField = 'agent' | 'parentId' | 'rootId' | 'createdAt' | 'input' | 'metadata';

export function toQuestion(row: QuestionRead): QuestionRecord {
  return {
    id: row.id,
    taskId: row.taskId,
    name: row.name,
    items: JSON.parse(row.items),
    metadata: JSON.parse(row.metadata),
    askedAt: row.askedAt,
    expiresAt: row.expiresAt,
    resolution: toResolution(row),
  };
}

export function fromQuestion(record: QuestionRecord, logId: number, taskKey: number): Omit<QuestionRow, 'key'> {
  const { id, name, items, metadata, askedAt, expiresAt, resolution } = record;
  return {
    log: logId,
    id,
    task: taskKey,
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

export function toAgent(row: AgentRow): AgentDescription {
  return { ...row, inputSchema: JSON.parse(row.inputSchema) };
}

/** Inserts rows whose fields are named as the schema names the columns; SQLite gives the `key` where there is one. */
export const INSERT_TASK = insertInto(task, 'task');
export const INSERT_QUESTION = insertInto(question, 'question');

/** `@field` for each column that a task's update may change; `log` and `id` find the row. */
export const TASK_ASSIGNMENTS = columns(task)
  .filter(([field]) => !['key', 'log', 'id', 'blocked', 'agent', 'parentId', 'rootId', 'createdAt', 'input', 'metadata'].includes(field))
  .map(([field, name]) => `${name} = @${field}`)
  .join(', ');

function insertInto(table: SQLiteTable, name: string): string {
  const given = columns(table).filter(([field]) => field !== 'key');
  return `insert into ${name} (${given.map(([, column]) => column).join(', ')})
    values (${given.map(([field]) => `@${field}`).join(', ')})`;
}

function columnsOf(table: SQLiteTable, name: string): string {
  return columns(table)
    .map(([field, column]) => `${name}.${column} as ${field}`)
    .join(', ');
}

function columns(table: SQLiteTable): [field: string, column: string][] {
  return Object.entries(getTableColumns(table)).map(([field, { name }]) => [field, name]);
}

/** JSON's null is SQL's. */
function text(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}
