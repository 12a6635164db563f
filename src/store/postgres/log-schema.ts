import { sql } from 'drizzle-orm';
import { check, index, integer, primaryKey, unique } from 'drizzle-orm/pg-core';
import { holdfast, long, rowKey, text } from './column.ts';

// Columns that hold JSON are text: `jsonb` loses what JSON can hold. Times are epoch ms. Text that anybody may have written
// is escaped, see `escape.ts`.

/** Numbers the claims of all owners. */
export const turns = holdfast.sequence('turns', { startWith: 1 });

/**
 * One row an owner: where the log stands, and the lock that every commit of the owner takes. `epoch` is that of the newest
 * `log_epoch` row, `claimable` counts the tasks that are `CLAIMABLE`, and `turn` is the number of the owner's newest claim.
 * `batch` is a random number that each commit leaves: by it one whose outcome got lost is known again.
 */
export const log = holdfast.table(
  'log',
  {
    id: rowKey(),
    owner: text().notNull().unique('log_owner'),
    head: long().notNull(),
    prunedSeq: long('pruned_seq').notNull(),
    epoch: text(),
    claimable: integer().notNull(),
    turn: long().notNull(),
    unfinishedRoots: integer('unfinished_roots').notNull(),
    pendingQuestions: integer('pending_questions').notNull(),
    batch: long().notNull(),
  },
  (table) => [
    index('log_claimable').on(table.turn, table.id).where(sql`claimable > 0`),
    check('log_claimable_count', sql`claimable >= 0`),
    check('log_unfinished', sql`unfinished_roots >= 0 and pending_questions >= 0`),
    check('log_marks', sql`pruned_seq between 0 and head`),
    check('log_epoch_from_first_event', sql`(epoch is null) = (head = 0)`),
  ],
);

export const logEpoch = holdfast.table(
  'log_epoch',
  {
    log: logReference(),
    epoch: text().notNull(),
    firstSeq: long('first_seq').notNull(),
  },
  (table) => [
    primaryKey({ name: 'log_epoch_key', columns: [table.log, table.firstSeq] }),
    unique('log_epoch_once').on(table.log, table.epoch),
    check('log_epoch_first_seq', sql`first_seq >= 1`),
  ],
);

/**
 * Rows are found by place in their log, by the root of their tree, whose stream they all belong to, and by the
 * conversation. `task` and `root` are 0 for what happened to a conversation itself.
 */
export const event = holdfast.table(
  'event',
  {
    log: long().notNull(),
    seq: long().notNull(),
    task: long().notNull(),
    root: long().notNull(),
    conversation: long(),
    at: long().notNull(),
    type: text().notNull(),
    step: text(),
    data: text().notNull(),
  },
  (table) => [
    primaryKey({ name: 'event_place', columns: [table.log, table.seq] }),
    index('event_of_root').on(table.root, table.seq),
    index('event_of_conversation').on(table.conversation, table.seq).where(sql`conversation is not null`),
  ],
);

export const idempotencyKey = holdfast.table(
  'idempotency_key',
  {
    log: logReference(),
    key: text().notNull(),
    fingerprint: text().notNull(),
    at: long().notNull(),
    result: text().notNull(),
  },
  (table) => [
    primaryKey({ name: 'idempotency_key_key', columns: [table.log, table.key] }),
    index('idempotency_key_age').on(table.at),
  ],
);

/** Which log a row belongs to. */
export function logReference() {
  return long()
    .notNull()
    .references(() => log.id);
}
