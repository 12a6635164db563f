import { sql } from 'drizzle-orm';
import { type AnySQLiteColumn, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

// A file of its own: `access.db`. Times are epoch ms, scopes are separated by spaces, hashes are hexadecimal.

export const token = sqliteTable('token', {
  id: text().primaryKey(),
  hash: text().notNull().unique(),
  owner: text().notNull(),
  scopes: text().notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at'),
  lastUsedAt: integer('last_used_at'),
  revokedAt: integer('revoked_at'),
});

/** `grant` is a word of SQL. */
export const accessGrant = sqliteTable(
  'access_grant',
  {
    hash: text().primaryKey(),
    kind: text({ enum: ['ticket', 'session'] }).notNull(),
    tokenId: text('token_id'),
    /** What is got with a session goes with it. */
    sessionHash: text('session_hash').references((): AnySQLiteColumn => accessGrant.hash, { onDelete: 'cascade' }),
    owner: text().notNull(),
    scopes: text().notNull(),
    taskId: text('task_id'),
    conversationId: text('conversation_id'),
    createdAt: integer('created_at').notNull(),
    openUntil: integer('open_until').notNull(),
    endsAt: integer('ends_at').notNull(),
  },
  (table) => [
    index('access_grant_closed').on(table.openUntil),
    index('access_grant_of_session').on(table.sessionHash).where(sql`session_hash is not null`),
  ],
);
