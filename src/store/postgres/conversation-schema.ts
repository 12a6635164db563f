import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, unique } from 'drizzle-orm/pg-core';
import type { Message } from '../../model/event.ts';
import { holdfast, long, oneOf, rowKey, text } from './column.ts';
import { logReference } from './log-schema.ts';
import { taskReference } from './task-schema.ts';

// Columns that hold JSON are text. Times are epoch ms. Wide columns stand last, so that reading the others skips them.

/** A deleted one stays as its own tombstone: nothing of it is shown from then on, and `purged` says that its rows are gone. */
export const conversation = holdfast.table(
  'conversation',
  {
    key: rowKey(),
    log: logReference(),
    id: text().notNull(),
    agent: text(),
    createdAt: long('created_at').notNull(),
    lastActivityAt: long('last_activity_at').notNull(),
    prunedSeq: long('pruned_seq').notNull(),
    unfinishedRoots: integer('unfinished_roots').notNull(),
    deletedAt: long('deleted_at'),
    purged: boolean().notNull(),
    title: text(),
    metadata: text().notNull(),
  },
  (table) => [
    unique('conversation_id').on(table.log, table.id),
    index('conversation_by_activity').on(table.log, table.lastActivityAt, table.key).where(sql`deleted_at is null`),
    index('conversation_deleted').on(table.deletedAt).where(sql`deleted_at is not null and not purged`),
    check('conversation_unfinished', sql`unfinished_roots >= 0 and (unfinished_roots = 0 or deleted_at is null)`),
    check('conversation_purged', sql`not purged or deleted_at is not null`),
  ],
);

/** What was written in a conversation, and what its turns have said, in the order in which it came. */
export const message = holdfast.table(
  'message',
  {
    key: rowKey(),
    log: logReference(),
    id: text().notNull(),
    conversation: long()
      .notNull()
      .references(() => conversation.key),
    task: taskReference(),
    role: text().$type<Message['role']>().notNull(),
    status: text().$type<Message['status']>().notNull(),
    createdAt: long('created_at').notNull(),
    metadata: text().notNull(),
    content: text().notNull(),
  },
  (table) => [
    unique('message_id').on(table.log, table.id),
    index('message_of_conversation').on(table.conversation, table.key),
    index('message_of_task').on(table.task, table.key),
    check('message_role', sql.raw(oneOf('role', ['user', 'assistant']))),
    check('message_status', sql`status = 'complete' or (status = 'partial' and role = 'assistant')`),
  ],
);
