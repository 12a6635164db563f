import { sql } from 'drizzle-orm';
import { type AnyPgColumn, check, index, pgSchema, smallint } from 'drizzle-orm/pg-core';
import { long, oneOf, text } from '../column.ts';

// In a schema of its own: who may come in is kept, backed up and brought back apart from the tasks. Times are epoch ms, scopes
// are separated by spaces, hashes are hexadecimal. Nothing here can be text that must be escaped.
const access = pgSchema('holdfast_access');

export const token = access.table('token', {
  id: text().primaryKey(),
  hash: text().notNull().unique('token_hash'),
  owner: text().notNull(),
  scopes: text().notNull(),
  createdAt: long('created_at').notNull(),
  expiresAt: long('expires_at'),
  lastUsedAt: long('last_used_at'),
  revokedAt: long('revoked_at'),
});

/** `grant` is a word of SQL. */
export const accessGrant = access.table(
  'access_grant',
  {
    hash: text().primaryKey(),
    kind: text().notNull(),
    tokenId: text('token_id'),
    /** What is got with a session goes with it. */
    sessionHash: text('session_hash').references((): AnyPgColumn => accessGrant.hash, { onDelete: 'cascade' }),
    owner: text().notNull(),
    scopes: text().notNull(),
    taskId: text('task_id'),
    conversationId: text('conversation_id'),
    createdAt: long('created_at').notNull(),
    openUntil: long('open_until').notNull(),
    endsAt: long('ends_at').notNull(),
  },
  (table) => [
    index('access_grant_closed').on(table.openUntil),
    index('access_grant_of_session').on(table.sessionHash).where(sql`session_hash is not null`),
    check('access_grant_kind', sql.raw(oneOf('kind', ['ticket', 'session']))),
  ],
);

/** One row: how many times something has been revoked or ended. */
export const endings = access.table(
  'endings',
  {
    id: smallint().primaryKey(),
    count: long().notNull(),
  },
  () => [check('endings_only', sql`id = 1`)],
);

/** How many requests of an owner all servers have let in since a window began. It is `unlogged`: a crash begins all anew. */
export const requestWindow = access.table(
  'request_window',
  {
    owner: text().primaryKey(),
    endsAt: long('ends_at').notNull(),
    count: long().notNull(),
  },
  (table) => [index('request_window_over').on(table.endsAt)],
);
