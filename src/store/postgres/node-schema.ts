import { sql } from 'drizzle-orm';
import { check, primaryKey, smallint } from 'drizzle-orm/pg-core';
import { holdfast, long, text } from './column.ts';

/** A process that has the database open, and until when it lives if nothing more is heard of it. Once dead it stays so. */
export const node = holdfast.table('node', {
  id: text().primaryKey(),
  expiresAt: long('expires_at').notNull(),
  deadAt: long('dead_at'),
});

/** The agents that a node has, as it described them last. */
export const agent = holdfast.table(
  'agent',
  {
    node: text()
      .notNull()
      .references(() => node.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    version: text().notNull(),
    description: text().notNull(),
    inputSchema: text('input_schema').notNull(),
    describedAt: long('described_at').notNull(),
  },
  (table) => [primaryKey({ name: 'agent_key', columns: [table.node, table.name] })],
);

/** What one node does for all, and until when. */
export const duty = holdfast.table('duty', {
  name: text().primaryKey(),
  node: text().notNull(),
  until: long().notNull(),
});

/**
 * One row: the epoch under which logs are written, and what tells that the database is still the one that it was made in:
 * the timeline of its log of changes, the start of its server, and the transaction that wrote this row, which is another
 * one where the row came out of a backup.
 */
export const epoch = holdfast.table(
  'epoch',
  {
    id: smallint().primaryKey(),
    current: text().notNull(),
    timeline: text().notNull(),
    startedAt: text('started_at').notNull(),
    xid: long().notNull(),
  },
  () => [check('epoch_only', sql`id = 1`)],
);
