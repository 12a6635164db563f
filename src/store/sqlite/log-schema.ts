import { sql } from 'drizzle-orm';
import { check, index, integer, primaryKey, sqliteTable, text, unique, uniqueIndex } from 'drizzle-orm/sqlite-core';

// Columns that hold JSON are TEXT. Times are epoch ms. Wide columns stand last, so that reading the others skips them.

/**
 * One row an owner: where the log stands. `epoch` is that of the newest `log_epoch` row, `claimable` counts the tasks that
 * are `CLAIMABLE`, and `turn` numbers the claims of all owners: it is that of the owner's newest one. What is unfinished is
 * counted by the model.
 */
export const log = sqliteTable(
  'log',
  {
    id: integer().primaryKey(),
    owner: text().notNull().unique(),
    head: integer().notNull(),
    prunedSeq: integer('pruned_seq').notNull(),
    epoch: text(),
    claimable: integer().notNull(),
    turn: integer().notNull(),
    unfinishedRoots: integer('unfinished_roots').notNull(),
    pendingQuestions: integer('pending_questions').notNull(),
  },
  (table) => [
    index('log_turn').on(table.turn),
    index('log_claimable').on(table.turn).where(sql`claimable > 0`),
    check('log_claimable_count', sql`claimable >= 0`),
    check('log_unfinished', sql`unfinished_roots >= 0 and pending_questions >= 0`),
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

/**
 * Rows are found by place in their log, by the root of their tree, whose stream they all belong to, and by the
 * conversation. `task` and `root` are 0 for what happened to a conversation itself.
 */
export const event = sqliteTable(
  'event',
  {
    log: integer().notNull(),
    seq: integer().notNull(),
    task: integer().notNull(),
    root: integer().notNull(),
    conversation: integer(),
    at: integer().notNull(),
    type: text().notNull(),
    step: text(),
    data: text().notNull(),
  },
  (table) => [
    uniqueIndex('event_place').on(table.log, table.seq),
    index('event_of_root').on(table.root, table.seq),
    index('event_of_conversation').on(table.conversation, table.seq).where(sql`conversation is not null`),
  ],
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

/** Which log a row belongs to. */
export function logReference() {
  return integer()
    .notNull()
    .references(() => log.id);
}

/** Checks that a column has one of these values. */
export function oneOf(column: string, values: readonly string[]): string {
  return `${column} in (${values.map((value) => `'${value}'`).join(', ')})`;
}
