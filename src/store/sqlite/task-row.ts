import type { TaskRecord } from '../../model/task.ts';
import { TASK_CHANGES } from '../task-changes.ts';
import { assignColumns, insertInto, selectColumns } from './columns.ts';
import { task } from './task-schema.ts';

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
    conversationId: row.conversationId,
    isTurn: row.isTurn === 1,
    messageCount: row.messageCount,
    lane: row.lane,
    spawnKey: row.spawnKey,
    depth: row.depth,
    retryOf: row.retryOf,
    input: row.input === null ? null : JSON.parse(row.input),
    output: row.output === null ? null : JSON.parse(row.output),
    error: row.error === null ? null : JSON.parse(row.error),
    progress: row.progress === null ? null : JSON.parse(row.progress),
    attempt: row.attempt,
    begins: row.begins === 1,
    maxAttempts: row.maxAttempts,
    failures: row.failures,
    runAt: row.runAt,
    pendingQuestionCount: row.pendingQuestionCount,
    metadata: JSON.parse(row.metadata),
    priority: row.priority,
    concurrencyKey: row.concurrencyKey,
    timeoutMs: row.timeoutMs,
    version: row.version,
    fence: row.fence,
    held: row.held === 1,
    node: row.node,
    ord: row.ord,
    emits: row.emits,
    eventCount: row.eventCount,
    eventsLength: row.eventsLength,
    unfinishedBelow: row.unfinishedBelow,
    seed: row.seed,
    originAt: row.originAt,
    cut: row.cut === null ? null : JSON.parse(row.cut),
    marks: row.marks === null ? [] : JSON.parse(row.marks),
    inbox: row.inbox === null ? [] : JSON.parse(row.inbox),
    crashes: row.crashes,
    crashMark: row.crashMark,
    aloneCrashes: row.aloneCrashes,
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
  return {
    ...rest,
    ...taskUpdate(record, logId, false),
    input: text(input),
    metadata: JSON.stringify(metadata),
  };
}

/** What finds a task's row, and all that may change in it. The input can be large and is not written again. */
export function taskUpdate(record: TaskRecord, logId: number, blocked: boolean) {
  const { owner: _owner, input: _input, metadata: _metadata, ...rest } = record;
  const { begins, held, isTurn, output, error, progress, cut, marks, inbox } = record;
  return {
    ...rest,
    log: logId,
    blocked: Number(blocked),
    begins: Number(begins),
    held: Number(held),
    isTurn: Number(isTurn),
    output: text(output),
    error: text(error),
    progress: text(progress),
    cut: text(cut),
    marks: listText(marks),
    inbox: listText(inbox),
  };
}

/** The same of what changes often alone, which a commit mostly is about. */
export function taskProgress(record: TaskRecord, logId: number) {
  const { id, ord, emits, eventCount, eventsLength, unfinishedBelow, pendingQuestionCount, lastSeq } = record;
  const counts = { ord, emits, eventCount, eventsLength, unfinishedBelow, pendingQuestionCount };
  return { log: logId, id, ...counts, lastSeq, progress: text(record.progress) };
}

/** `column = @field` for what changes often, which is in no index: SQLite rewrites those of every column it is told. */
export const OFTEN_ASSIGNED = assigned('often');
export const ALL_ASSIGNED = `${OFTEN_ASSIGNED}, ${assigned('seldom')}, blocked = @blocked`;

function assigned(changes: 'seldom' | 'often'): string {
  const fields: Record<string, string> = TASK_CHANGES;
  return assignColumns(task, (field) => fields[field] === changes);
}

/** JSON's null is SQL's. */
function text(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** An empty list is SQL's null. */
function listText(list: readonly unknown[]): string | null {
  return list.length === 0 ? null : JSON.stringify(list);
}
