import type { TaskRecord } from '../../model/task.ts';
import { assignColumns, insertInto, selectColumns } from './columns.ts';
import { task } from './schema.ts';

type TaskRow = typeof task.$inferSelect;

/** A task as it is read: its row, and its owner out of the log's. */
export type TaskRead = TaskRow & { owner: string };

/** Reads whole tasks; a `where` may name `task` and `log`. */
export const SELECT_TASK = `select ${selectColumns(task, 'task')}, log.owner from task join log on log.id = task.log`;

export const INSERT_TASK = insertInto(task, 'task');

/** Field by field, since it is done for every commit: taking the row apart with `...rest` costs eight times as much. */
export function toTask(row: TaskRead): TaskRecord {
  return {
    id: row.id,
    owner: row.owner,
    agent: row.agent,
    status: row.status,
    parentId: row.parentId,
    rootId: row.rootId,
    input: row.input === null ? null : JSON.parse(row.input),
    output: row.output === null ? null : JSON.parse(row.output),
    error: row.error === null ? null : JSON.parse(row.error),
    progress: row.progress === null ? null : JSON.parse(row.progress),
    attempt: row.attempt,
    pendingQuestionCount: row.pendingQuestionCount,
    metadata: JSON.parse(row.metadata),
    priority: row.priority,
    concurrencyKey: row.concurrencyKey,
    timeoutMs: row.timeoutMs,
    version: row.version,
    fence: row.fence,
    ranMs: row.ranMs,
    deadlineAt: row.deadlineAt,
    runningSince: row.runningSince,
    createdAt: row.createdAt,
    startedAt: row.startedAt,
    finishedAt: row.finishedAt,
    firstSeq: row.firstSeq,
    lastSeq: row.lastSeq,
    prunedSeq: row.prunedSeq,
  };
}

/** A new task's row but for its `key`, which SQLite gives. It is unblocked until its lane has been looked at. */
export function fromTask(record: TaskRecord, logId: number): Omit<TaskRow, 'key'> {
  const { owner: _owner, input, metadata, ...rest } = record;
  return { ...rest, ...taskUpdate(record, logId), blocked: 0, input: text(input), metadata: JSON.stringify(metadata) };
}

/** What finds a task's row, and all that may change in it. The input can be large and is not written again. */
export function taskUpdate(record: TaskRecord, logId: number) {
  const { owner: _owner, input: _input, metadata: _metadata, ...rest } = record;
  const { output, error, progress } = record;
  return { ...rest, log: logId, output: text(output), error: text(error), progress: text(progress) };
}

/** How often a field changes: never, at the turns of a task's life, or with most commits. */
const TASK_CHANGES: Record<keyof TaskRecord, 'never' | 'seldom' | 'often'> = {
  id: 'never',
  owner: 'never',
  agent: 'never',
  status: 'seldom',
  parentId: 'never',
  rootId: 'never',
  input: 'never',
  output: 'seldom',
  error: 'seldom',
  progress: 'often',
  attempt: 'seldom',
  pendingQuestionCount: 'often',
  metadata: 'never',
  priority: 'seldom',
  concurrencyKey: 'never',
  timeoutMs: 'seldom',
  version: 'seldom',
  fence: 'seldom',
  ranMs: 'seldom',
  deadlineAt: 'seldom',
  runningSince: 'seldom',
  createdAt: 'never',
  startedAt: 'seldom',
  finishedAt: 'seldom',
  firstSeq: 'seldom',
  lastSeq: 'often',
  prunedSeq: 'seldom',
};

/** `column = @field` for what changes often, which is in no index: SQLite rewrites those of every column it is told. */
export const OFTEN_ASSIGNED = assigned('often');
export const ALL_ASSIGNED = `${OFTEN_ASSIGNED}, ${assigned('seldom')}`;

/** Whether nothing but what changes often has changed. */
export function hasTurned(before: TaskRecord, after: TaskRecord): boolean {
  const fields = Object.keys(TASK_CHANGES) as (keyof TaskRecord)[];
  return fields.some((field) => TASK_CHANGES[field] === 'seldom' && before[field] !== after[field]);
}

function assigned(changes: 'seldom' | 'often'): string {
  const fields: Record<string, string> = TASK_CHANGES;
  return assignColumns(task, (field) => fields[field] === changes);
}

/** JSON's null is SQL's. */
function text(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}
