import type { TaskRecord } from '../../model/task.ts';
import { TASK_CHANGES } from '../task-changes.ts';
import { assignGiven, insertGiven, recordset, selectColumns } from './columns.ts';
import { fromText, toText } from './escape.ts';
import { statement } from './statement.ts';
import { task } from './task-schema.ts';

type TaskRow = Omit<typeof task.$inferSelect, 'prunable'>;

/** A task as it is read: its row, and its owner out of the log's. */
export type TaskRead = TaskRow & { owner: string };

/** Reads whole tasks; a `where` may name `task` and `log`. */
export const SELECT_TASK = `select ${selectColumns(task, 'task')}, log.owner
  from holdfast.task join holdfast.log on log.id = task.log`;

const CHANGES: Record<string, string> = TASK_CHANGES;
const OFTEN = assignGiven(task, (field) => CHANGES[field] === 'often');
const SELDOM = assignGiven(task, (field) => CHANGES[field] === 'seldom');
/** @param wanted which fields are given beside the key */
const given = (wanted: (field: string) => boolean) =>
  `from ${recordset(task, '$1', {}, (field) => field === 'key' || wanted(field))} where task.key = given.key`;

/** Of several tasks, given as `$1`, in the order in which they came. */
export const INSERT_TASKS = statement(insertGiven(task));
export const UPDATE_TASKS = statement(
  `update holdfast.task set ${OFTEN}, ${SELDOM}, blocked = given.blocked ${given((field) => field === 'blocked' || isChanged(field))}`,
);
/** The same of what changes often alone, which a commit mostly is about. */
export const UPDATE_TASKS_PROGRESS = statement(
  `update holdfast.task set ${OFTEN} ${given((field) => CHANGES[field] === 'often')}`,
);

function isChanged(field: string): boolean {
  return CHANGES[field] === 'often' || CHANGES[field] === 'seldom';
}

/** Field by field, since it is done for every commit: taking the row apart with `...rest` costs several times as much. */
export function toTask(row: TaskRead): TaskRecord {
  return {
    id: row.id,
    owner: fromText(row.owner),
    agent: fromText(row.agent),
    status: row.status,
    parentId: row.parentId,
    rootId: row.rootId,
    conversationId: row.conversationId,
    isTurn: row.isTurn,
    messageCount: row.messageCount,
    lane: fromText(row.lane),
    spawnKey: fromText(row.spawnKey),
    depth: row.depth,
    retryOf: row.retryOf,
    input: row.input === null ? null : JSON.parse(row.input),
    output: row.output === null ? null : JSON.parse(row.output),
    error: row.error === null ? null : JSON.parse(row.error),
    progress: row.progress === null ? null : JSON.parse(row.progress),
    attempt: row.attempt,
    begins: row.begins,
    maxAttempts: row.maxAttempts,
    failures: row.failures,
    runAt: row.runAt,
    pendingQuestionCount: row.pendingQuestionCount,
    metadata: JSON.parse(row.metadata),
    priority: row.priority,
    concurrencyKey: fromText(row.concurrencyKey),
    timeoutMs: row.timeoutMs,
    version: fromText(row.version),
    fence: row.fence,
    held: row.held,
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

/** A row for {@link INSERT_TASKS}. It is unblocked until its lane has been looked at. */
export function fromTask(record: TaskRecord, logId: number) {
  const { agent, parentId, rootId, conversationId, isTurn, lane, spawnKey, depth, retryOf } = record;
  const { maxAttempts, input, metadata, concurrencyKey, seed, originAt, createdAt } = record;
  return {
    ...taskUpdate(record, null, false),
    log: logId,
    ...{ agent: toText(agent), parentId, rootId, conversationId, isTurn, depth, retryOf },
    ...{ lane: toText(lane), spawnKey: toText(spawnKey), concurrencyKey: toText(concurrencyKey) },
    ...{ maxAttempts, seed, originAt, createdAt },
    metadata: JSON.stringify(metadata),
    input: jsonText(input),
  };
}

/** A row for {@link UPDATE_TASKS}. The input can be large and is not written again. */
export function taskUpdate(record: TaskRecord, key: number | null, blocked: boolean) {
  const { id, status, messageCount, attempt, begins, failures, runAt, priority, timeoutMs, fence, held, node } = record;
  const { crashes, crashMark, aloneCrashes, ranMs, deadlineAt, runningSince, startedAt, finishedAt } = record;
  return {
    ...taskProgress(record, key),
    ...{ id, status, blocked, messageCount, attempt, begins, failures, runAt, priority, timeoutMs, fence, held, node },
    ...{ crashes, crashMark, aloneCrashes, ranMs, deadlineAt, runningSince, startedAt, finishedAt },
    ...{ firstSeq: record.firstSeq, prunedSeq: record.prunedSeq, version: toText(record.version) },
    ...{ output: jsonText(record.output), error: jsonText(record.error), cut: jsonText(record.cut) },
    ...{ marks: listText(record.marks), inbox: listText(record.inbox) },
  };
}

/** A row for {@link UPDATE_TASKS_PROGRESS}. */
export function taskProgress(record: TaskRecord, key: number | null) {
  const { ord, emits, eventCount, eventsLength, unfinishedBelow, pendingQuestionCount, lastSeq } = record;
  const counts = { ord, emits, eventCount, eventsLength, unfinishedBelow, pendingQuestionCount };
  return { key, ...counts, lastSeq, progress: jsonText(record.progress) };
}

/** JSON's null is SQL's. */
function jsonText(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** An empty list is SQL's null. */
function listText(list: readonly unknown[]): string | null {
  return list.length === 0 ? null : JSON.stringify(list);
}
