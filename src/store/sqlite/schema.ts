import { type SQL, sql } from 'drizzle-orm';
import { check, index, integer, primaryKey, sqliteTable, text, unique, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { type QuestionStatus, questionSchema } from '../../model/question.ts';
import { TASK_STATUSES } from '../../model/task.ts';

// Columns that hold JSON are TEXT. Times are epoch ms. Wide columns stand last, so that reading the others skips them.

/** One row an owner: where the log stands. `epoch` is that of the newest `log_epoch` row. */
export const log = sqliteTable(
  'log',
  {
    id: integer().primaryKey(),
    owner: text().notNull().unique(),
    head: integer().notNull(),
    prunedSeq: integer('pruned_seq').notNull(),
    epoch: text(),
  },
  () => [
    check('log_marks', sql`pruned_seq between 0 and head`),
    check('log_epoch_from_first_event', sql`(epoch is null) = (head = 0)`),
  ],
);

export const logEpoch = sqliteTable(
  'log_epoch',
  {
    log: logReference(),
    epoch: text().notNull(),
    firstSeq: integer('first_seq').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.log, table.firstSeq] }),
    unique('log_epoch_once').on(table.log, table.epoch),
    check('log_epoch_first_seq', sql`first_seq >= 1`),
  ],
);

/** `key` is what events refer to and what the order of creation is read from; `blocked` is kept by `lanes.ts`. */
export const task = sqliteTable(
  'task',
  {
    key: integer().primaryKey({ autoIncrement: true }),
    log: logReference(),
    id: text().notNull(),
    agent: text().notNull(),
    status: text({ enum: TASK_STATUSES }).notNull(),
    blocked: integer().notNull(),
    parentId: text('parent_id'),
    rootId: text('root_id').notNull(),
    attempt: integer().notNull(),
    fence: integer().notNull(),
    pendingQuestionCount: integer('pending_question_count').notNull(),
    priority: integer().notNull(),
    concurrencyKey: text('concurrency_key'),
    version: text(),
    timeoutMs: integer('timeout_ms').notNull(),
    ranMs: integer('ran_ms').notNull(),
    runningSince: integer('running_since'),
    deadlineAt: integer('deadline_at'),
    createdAt: integer('created_at').notNull(),
    startedAt: integer('started_at'),
    finishedAt: integer('finished_at'),
    firstSeq: integer('first_seq').notNull(),
    lastSeq: integer('last_seq').notNull(),
    prunedSeq: integer('pruned_seq').notNull(),
    progress: text(),
    error: text(),
    metadata: text().notNull(),
    input: text(),
    output: text(),
  },
  (table) => [
    unique('task_id').on(table.log, table.id),
    index('task_by_status').on(table.log, table.status),
    index('task_by_agent').on(table.log, table.agent, table.status),
    index('task_children').on(table.log, table.parentId).where(sql`parent_id is not null and finished_at is null`),
    index('task_queue').on(table.log, sql`priority desc`).where(sql`status = 'queued' and blocked = 0`),
    index('task_lane_queue')
      .on(table.log, table.concurrencyKey, sql`priority desc`)
      .where(sql`status = 'queued' and concurrency_key is not null`),
    index('task_lane_head')
      .on(table.log, table.concurrencyKey)
      .where(sql`status = 'queued' and blocked = 0 and concurrency_key is not null`),
    index('task_lane_busy')
      .on(table.log, table.concurrencyKey)
      .where(sql`status = 'running' and concurrency_key is not null`),
    index('task_deadline').on(table.deadlineAt).where(sql`deadline_at is not null`),
    index('task_begun').on(table.log).where(sql`finished_at is null and attempt > 0`),
    index('root_unfinished').on(table.log, table.firstSeq).where(sql`parent_id is null and finished_at is null`),
    index('root_prunable')
      .on(table.finishedAt)
      .where(sql`parent_id is null and finished_at is not null and pruned_seq < last_seq`),
    check('task_status', oneOf('status', TASK_STATUSES)),
    check('task_blocked', sql`blocked = 0 or (blocked = 1 and status = 'queued' and concurrency_key is not null)`),
    check('task_root', sql`(parent_id is null) = (root_id = id)`),
    check('task_finished', sql`(finished_at is not null) = (status in ('completed', 'failed', 'cancelled'))`),
    check('task_clock', sql`(running_since is not null) = (status = 'running')`),
    check('task_deadline_while_running', sql`(deadline_at is not null) = (status = 'running')`),
    check('task_begun_once_run', sql`(started_at is null) = (attempt = 0)`),
    check(
      'task_runs_under_a_claim',
      sql`status not in ('running', 'waiting', 'completed') or (attempt > 0 and fence > 0)`,
    ),
    check('task_error', sql`(error is not null) = (status = 'failed')`),
    check('task_output', sql`output is null or status = 'completed'`),
    check(
      'task_open_questions',
      sql`pending_question_count >= 0 and (pending_question_count = 0 or finished_at is null)`,
    ),
    check('task_seqs', sql`first_seq <= last_seq and pruned_seq <= last_seq`),
    check('task_priority', sql`priority between -100 and 100`),
  ],
);

/** Rows are found by place in their log, and by the root of their tree, whose stream they all belong to. */
export const event = sqliteTable(
  'event',
  {
    log: integer().notNull(),
    seq: integer().notNull(),
    task: integer().notNull(),
    root: integer().notNull(),
    at: integer().notNull(),
    type: text().notNull(),
    step: text(),
    data: text().notNull(),
  },
  (table) => [uniqueIndex('event_place').on(table.log, table.seq), index('event_of_root').on(table.root, table.seq)],
);

export const question = sqliteTable(
  'question',
  {
    key: integer().primaryKey(),
    log: logReference(),
    id: text().notNull(),
    task: integer()
      .notNull()
      .references(() => task.key),
    name: text().notNull(),
    status: text().$type<QuestionStatus>().notNull(),
    askedAt: integer('asked_at').notNull(),
    expiresAt: integer('expires_at'),
    resolvedAt: integer('resolved_at'),
    resolvedBy: text('resolved_by'),
    reason: text(),
    answers: text(),
    metadata: text().notNull(),
    items: text().notNull(),
  },
  (table) => [
    unique('question_id').on(table.log, table.id),
    index('question_by_status').on(table.log, table.status),
    index('question_of_task').on(table.task, table.status),
    index('question_deadline').on(table.expiresAt).where(sql`status = 'pending' and expires_at is not null`),
    check('question_status', oneOf('status', questionSchema.shape.status.options)),
    check('question_resolved', sql`(resolved_at is null) = (status = 'pending')`),
    check('question_answers', sql`(answers is not null) = (status = 'answered')`),
    check('question_resolved_by', sql`(resolved_by is not null) = (status in ('answered', 'declined'))`),
    check(
      'question_reason',
      sql`reason is null and status <> 'cancelled' or status = 'declined' or (status = 'cancelled' and reason in ('cancelled', 'interrupted', 'task_finished', 'withdrawn'))`,
    ),
  ],
);

/** Open ones only: a timer that has fired or was dropped is deleted. */
export const timer = sqliteTable(
  'timer',
  {
    task: integer()
      .notNull()
      .references(() => task.key),
    key: text().notNull(),
    dueAt: integer('due_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.task, table.key] }), index('timer_due').on(table.dueAt)],
);

export const idempotencyKey = sqliteTable(
  'idempotency_key',
  {
    log: logReference(),
    key: text().notNull(),
    fingerprint: text().notNull(),
    at: integer().notNull(),
    result: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.log, table.key] }), index('idempotency_key_age').on(table.at)],
);

export const agent = sqliteTable('agent', {
  name: text().primaryKey(),
  version: text().notNull(),
  description: text().notNull(),
  inputSchema: text('input_schema').notNull(),
});

function logReference() {
  return integer()
    .notNull()
    .references(() => log.id);
}

function oneOf(column: string, values: readonly string[]): SQL {
  return sql.raw(`${column} in (${values.map((value) => `'${value}'`).join(', ')})`);
}
