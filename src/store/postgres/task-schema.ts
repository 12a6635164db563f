import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, primaryKey, unique, uniqueIndex } from 'drizzle-orm/pg-core';
import type { RowKind, RowStatus } from '../../model/journal.ts';
import { type QuestionStatus, questionSchema } from '../../model/question.ts';
import { TASK_STATUSES, type TaskStatus } from '../../model/task.ts';
import { STATUS_FITS_KIND } from '../row-statuses.ts';
import { holdfast, long, oneOf, rowKey, text } from './column.ts';
import { logReference } from './log-schema.ts';
import { CLAIMABLE, SUSPECT, SUSPECT_RUNNING } from './offered.ts';

// Columns that hold JSON are text. Times are epoch ms. Wide columns stand last, so that reading the others skips them.

/**
 * `key` is what events refer to and what the order of creation is read from; `blocked` is kept by `lanes.ts`. What changes
 * with most commits stands in no index, nor in the condition of one: else each of them would be written anew, all twenty.
 * `prunable` is there for that.
 */
export const task = holdfast.table(
  'task',
  {
    key: rowKey(),
    log: logReference(),
    id: text().notNull(),
    agent: text().notNull(),
    status: text().$type<TaskStatus>().notNull(),
    blocked: boolean().notNull(),
    parentId: text('parent_id'),
    rootId: text('root_id').notNull(),
    conversationId: text('conversation_id'),
    isTurn: boolean('is_turn').notNull(),
    messageCount: integer('message_count').notNull(),
    lane: text(),
    spawnKey: text('spawn_key'),
    depth: integer().notNull(),
    retryOf: text('retry_of'),
    attempt: integer().notNull(),
    begins: boolean().notNull(),
    maxAttempts: integer('max_attempts').notNull(),
    failures: integer().notNull(),
    runAt: long('run_at'),
    fence: integer().notNull(),
    held: boolean().notNull(),
    node: text(),
    ord: long().notNull(),
    emits: long().notNull(),
    eventCount: long('event_count').notNull(),
    eventsLength: long('events_length').notNull(),
    unfinishedBelow: integer('unfinished_below').notNull(),
    crashes: integer().notNull(),
    crashMark: long('crash_mark').notNull(),
    aloneCrashes: integer('alone_crashes').notNull(),
    pendingQuestionCount: integer('pending_question_count').notNull(),
    priority: integer().notNull(),
    concurrencyKey: text('concurrency_key'),
    version: text(),
    seed: text().notNull(),
    originAt: long('origin_at').notNull(),
    timeoutMs: long('timeout_ms').notNull(),
    ranMs: long('ran_ms').notNull(),
    runningSince: long('running_since'),
    deadlineAt: long('deadline_at'),
    createdAt: long('created_at').notNull(),
    startedAt: long('started_at'),
    finishedAt: long('finished_at'),
    firstSeq: long('first_seq').notNull(),
    lastSeq: long('last_seq').notNull(),
    prunedSeq: long('pruned_seq').notNull(),
    prunable: boolean()
      .notNull()
      .generatedAlwaysAs(sql`parent_id is null and finished_at is not null and pruned_seq < last_seq`),
    progress: text(),
    error: text(),
    cut: text(),
    marks: text(),
    inbox: text(),
    metadata: text().notNull(),
    input: text(),
    output: text(),
  },
  (table) => [
    unique('task_id').on(table.log, table.id),
    index('task_by_status').on(table.log, table.status, table.key),
    index('task_by_agent').on(table.log, table.agent, table.status, table.key),
    index('task_children')
      .on(table.log, table.parentId, table.key)
      .where(sql`parent_id is not null and finished_at is null`),
    index('task_of_spawn').on(table.log, table.parentId, table.spawnKey, table.key).where(sql`parent_id is not null`),
    index('task_of_root').on(table.log, table.rootId).where(sql`parent_id is not null`),
    index('task_queue').on(table.log, table.agent, sql`priority desc`, table.key).where(sql.raw(CLAIMABLE)),
    index('task_suspect').on(sql`priority desc`, table.key).where(sql.raw(SUSPECT)),
    index('task_suspect_running').on(table.runningSince).where(sql.raw(SUSPECT_RUNNING)),
    index('task_of_conversation')
      .on(table.log, table.conversationId, table.status, table.key)
      .where(sql`conversation_id is not null`),
    index('turn_of_conversation').on(table.log, table.conversationId, table.key).where(sql`is_turn`),
    index('task_lane_queue')
      .on(table.log, table.lane, sql`priority desc`, table.key)
      .where(sql`status = 'queued' and run_at is null and lane is not null`),
    index('task_lane_head')
      .on(table.log, table.lane)
      .where(sql`status = 'queued' and run_at is null and not blocked and lane is not null`),
    index('task_lane_turn').on(table.log, table.lane, table.key).where(sql`is_turn and finished_at is null`),
    index('task_lane_busy').on(table.log, table.lane).where(sql`held and lane is not null`),
    index('task_run_at').on(table.runAt).where(sql`run_at is not null`),
    index('task_deadline').on(table.deadlineAt).where(sql`deadline_at is not null`),
    index('task_held').on(table.node).where(sql`held`),
    index('root_unfinished').on(table.log, table.firstSeq).where(sql`parent_id is null and finished_at is null`),
    index('root_prunable').on(table.finishedAt).where(sql`prunable`),
    check('task_status', sql.raw(oneOf('status', TASK_STATUSES))),
    check('task_blocked', sql`not blocked or (status = 'queued' and run_at is null and lane is not null)`),
    check(
      'task_turn',
      sql`(not is_turn or (conversation_id is not null and lane is not null and parent_id is null)) and (is_turn or message_count = 0)`,
    ),
    check(
      'task_root',
      sql`(parent_id is null) = (root_id = id) and (parent_id is null) = (spawn_key is null) and (parent_id is null) = (depth = 0)`,
    ),
    check('task_finished', sql`(finished_at is not null) = (status in ('completed', 'failed', 'cancelled'))`),
    check('task_clock', sql`(running_since is not null) = (status = 'running')`),
    check('task_deadline_while_running', sql`(deadline_at is not null) = (status = 'running')`),
    check('task_begun_once_run', sql`(started_at is null) = (attempt = 0)`),
    check(
      'task_runs_under_a_claim',
      sql`status not in ('running', 'waiting', 'completed') or (attempt > 0 and fence > 0)`,
    ),
    check(
      'task_begins',
      sql`(attempt > 0 or begins) and (not begins or status not in ('running', 'waiting', 'completed'))`,
    ),
    check(
      'task_failures',
      sql`failures between 0 and max_attempts and (failures < max_attempts or finished_at is not null)`,
    ),
    check('task_run_at', sql`run_at is null or status = 'queued'`),
    check(
      'task_held_by_a_claim',
      sql`(not held or (status <> 'waiting' and fence > 0 and node is not null)) and (held or status <> 'running')`,
    ),
    check('task_counts', sql`ord >= 0 and emits >= 0 and crashes >= 0 and crash_mark >= 0 and alone_crashes >= 0`),
    check(
      'task_limits',
      sql`event_count >= 0 and events_length >= 0 and unfinished_below >= 0 and (unfinished_below = 0 or (parent_id is null and finished_at is null))`,
    ),
    check('task_error', sql`(error is not null) = (status = 'failed')`),
    check('task_cut', sql`cut is null or status = 'failed'`),
    check('task_output', sql`output is null or status = 'completed'`),
    check(
      'task_open_questions',
      sql`pending_question_count >= 0 and (pending_question_count = 0 or finished_at is null)`,
    ),
    check('task_seqs', sql`first_seq <= last_seq and pruned_seq <= last_seq`),
    check('task_priority', sql`priority between -100 and 100`),
  ],
);

/** A spawn that is reopened is pending and keeps its place. */
export const journal = holdfast.table(
  'journal',
  {
    task: taskReference(),
    key: text().notNull(),
    kind: text().$type<RowKind>().notNull(),
    status: text().$type<RowStatus>().notNull(),
    askedAt: long('asked_at').notNull(),
    ord: long(),
    emitsDone: long('emits_done'),
    at: long(),
    tries: integer().notNull(),
    once: boolean().notNull(),
    dueAt: long('due_at'),
    messageId: text('message_id'),
    messageAfterSeq: long('message_after_seq'),
    value: text(),
  },
  (table) => [
    primaryKey({ name: 'journal_key', columns: [table.task, table.key] }),
    index('journal_pending').on(table.task).where(sql`status = 'pending'`),
    index('journal_due').on(table.dueAt).where(sql`due_at is not null`),
    uniqueIndex('journal_ord').on(table.task, table.ord).where(sql`ord is not null`),
    check('journal_status', sql.raw(STATUS_FITS_KIND)),
    check('journal_key_of_a_child', sql`(kind = 'child') = (right(key, 1) = '>')`),
    check(
      'journal_resolved',
      sql`(value is null) = (status = 'pending') and (status <> 'pending' or ord is null or kind = 'spawn')`,
    ),
    check(
      'journal_place',
      sql`(status = 'pending' or ord is not null) and (emits_done is null) = (ord is null) and (at is null) = (ord is null)`,
    ),
    check('journal_due_while_asleep', sql`due_at is null or (kind = 'sleep' and status = 'pending')`),
    check(
      'journal_message_of_a_step',
      sql`(message_id is null) = (message_after_seq is null) and (message_id is null or (kind = 'step' and status = 'pending'))`,
    ),
    check('journal_of_steps', sql`kind = 'step' or (tries = 0 and not once)`),
    check('journal_counts', sql`asked_at >= 0 and ord >= 1 and emits_done >= 0 and tries >= 0`),
  ],
);

export const question = holdfast.table(
  'question',
  {
    key: rowKey(),
    log: logReference(),
    id: text().notNull(),
    task: taskReference(),
    conversationId: text('conversation_id'),
    name: text().notNull(),
    status: text().$type<QuestionStatus>().notNull(),
    askedAt: long('asked_at').notNull(),
    expiresAt: long('expires_at'),
    resolvedAt: long('resolved_at'),
    resolvedBy: text('resolved_by'),
    reason: text(),
    answers: text(),
    metadata: text().notNull(),
    items: text().notNull(),
  },
  (table) => [
    unique('question_id').on(table.log, table.id),
    index('question_by_status').on(table.log, table.status, table.key),
    index('question_of_task').on(table.task, table.status, table.key),
    index('question_of_conversation')
      .on(table.log, table.conversationId, table.status, table.key)
      .where(sql`conversation_id is not null`),
    index('question_deadline').on(table.expiresAt).where(sql`status = 'pending' and expires_at is not null`),
    check('question_status', sql.raw(oneOf('status', questionSchema.shape.status.options))),
    check('question_resolved', sql`(resolved_at is null) = (status = 'pending')`),
    check('question_answers', sql`(answers is not null) = (status = 'answered')`),
    check('question_resolved_by', sql`(resolved_by is not null) = (status in ('answered', 'declined'))`),
    check(
      'question_reason',
      sql`reason is null and status <> 'cancelled' or status = 'declined' or (status = 'cancelled' and reason in ('cancelled', 'interrupted', 'task_finished', 'withdrawn'))`,
    ),
  ],
);

/** Which task a row belongs to. */
export function taskReference() {
  return long()
    .notNull()
    .references(() => task.key);
}
