import { sql } from 'drizzle-orm';
import { check, index, integer, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core';
import { logReference, oneOf } from './log-schema.ts';
import { task } from './task-schema.ts';

// Columns that hold JSON are TEXT. Times are epoch ms. Wide columns stand last, so that reading the others skips them.

/** A deleted one stays as its own tombstone: nothing of it is shown from then on, and `purged` says that its rows are gone. */
export const conversation = sqliteTable(
  'conversation',
  {
    key: integer().primaryKey({ autoIncrement: true }),
    log: logReference(),
    id: text().notNull(),
    agent: text(),
    createdAt: integer('created_at').notNull(),
    lastActivityAt: integer('last_activity_at').notNull(),
    prunedSeq: integer('pruned_seq').notNull(),
    unfinishedRoots: integer('unfinished_roots').notNull(),
    deletedAt: integer('deleted_at'),
    purged: integer().notNull(),
    title: text(),
    metadata: text().notNull(),
  },
  (table) => [
    unique('conversation_id').on(table.log, table.id),
    index('conversation_by_activity').on(table.log, table.lastActivityAt).where(sql`deleted_at is null`),
    index('conversation_deleted').on(table.deletedAt).where(sql`deleted_at is not null and purged = 0`),
    check('conversation_unfinished', sql`unfinished_roots >= 0 and (unfinished_roots = 0 or deleted_at is null)`),
    check('conversation_purged', sql`purged in (0, 1) and (purged = 0 or deleted_at is not null)`),
  ],
);

/** What was written in a conversation, and what its turns have said, in the order in which it came. */
export const message = sqliteTable(
  'message',
  {
    key: integer().primaryKey(),
    log: logReference(),
    id: text().notNull(),
    conversation: integer()
      .notNull()
      .references(() => conversation.key),
    task: integer()
      .notNull()
      .references(() => task.key),
    role: text({ enum: ['user', 'assistant'] }).notNull(),
    status: text({ enum: ['complete', 'partial'] }).notNull(),
    createdAt: integer('created_at').notNull(),
    metadata: text().notNull(),
    content: text().notNull(),
  },
  (table) => [
    unique('message_id').on(table.log, table.id),
    index('message_of_conversation').on(table.conversation),
    index('message_of_task').on(table.task),
    check('message_role', sql.raw(oneOf('role', ['user', 'assistant']))),
    check('message_status', sql`status = 'complete' or (status = 'partial' and role = 'assistant')`),
  ],
);
