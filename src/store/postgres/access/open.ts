import { scopesIn } from '../../../model/access.ts';
import type { AccessStore, KnownGrant, TokenRecord } from '../../access.ts';
import { BY_INDEX } from '../by-index.ts';
import { createOpenLink } from '../connection.ts';
import { createDatabaseClock } from '../database-clock.ts';
import { asStoreError, codeOf } from '../failure.ts';
import { migrateDatabase, migrationsIn, type TableSet } from '../migrate.ts';
import { loadPostgres } from '../postgres-module.ts';
import { createSharedLink } from '../shared-link.ts';
import { asStartRefusal } from '../start-refusal.ts';
import type { Rows, Statement, Value } from '../statement.ts';
import * as sql from './statements.ts';

const TABLES: TableSet = {
  schema: 'holdfast_access',
  table: 'token',
  migrations: migrationsIn('postgres-access'),
};

/**
 * What a connection is for. An operator's waits for the disk, since tokens must last. A server's does not, since requests
 * wait meanwhile: a ticket that a power cut takes is got anew.
 */
const USES = {
  operator: { settings: { ...BY_INDEX, synchronous_commit: 'on' }, statementTimeoutMs: 10_000 },
  server: { settings: { ...BY_INDEX, synchronous_commit: 'off' }, statementTimeoutMs: 2_000 },
} as const;

/** Windows that are over and nobody asks for go with each addition, so many at a time. */
const WINDOWS_AT_ONCE = 50;
const FOREIGN_KEY_VIOLATION = '23503';

export interface PostgresAccessOptions {
  /** Of the database, as for the store of the tasks. */
  url: string;
  use?: keyof typeof USES;
}

/**
 * Opens who may come in to a database, whose tables for that are made if they are missing. It keeps one connection.
 *
 * @throws StartRefusal when it cannot be reached or used
 */
export async function openPostgresAccess({ url, use = 'server' }: PostgresAccessOptions): Promise<AccessStore> {
  const postgres = await loadPostgres();
  await migrateDatabase(postgres, { url }, TABLES);
  const link = createSharedLink(createOpenLink(postgres, { url, ...USES[use] }));
  const clock = createDatabaseClock();

  async function ask<Row>(statement: Statement<Row>, ...values: readonly Value[]): Promise<Rows<Row>> {
    try {
      return await link.ask(statement, ...values);
    } catch (error) {
      throw asStoreError(error);
    }
  }

  const store: AccessStore = {
    async addToken({ id, hash, owner, scopes, createdAt, expiresAt, lastUsedAt, revokedAt }) {
      await ask(sql.ADD_TOKEN, id, hash, owner, scopes.join(' '), createdAt, expiresAt, lastUsedAt, revokedAt);
    },
    tokenByHash: async (hash) => (await ask(sql.TOKEN_BY_HASH, hash)).map(toToken)[0] ?? null,
    async tokens(ids) {
      const rows = ids === undefined ? await ask(sql.ALL_TOKENS) : await ask(sql.TOKENS, ids);
      return rows.map(toToken);
    },
    async revokeToken(id, at) {
      const [found] = await ask(sql.REVOKE_TOKEN, id, at);
      return found?.isThere ?? false;
    },
    async touchToken(id, at) {
      await ask(sql.TOUCH_TOKEN, id, at);
    },
    async addGrant({ hash, kind, tokenId, sessionHash, owner, scopes, subject, createdAt, openUntil, endsAt }) {
      const ofWhat = [subject?.taskId ?? null, subject?.conversationId ?? null];
      const its = [hash, kind, tokenId, sessionHash, owner, scopes.join(' '), ...ofWhat, createdAt, openUntil, endsAt];
      try {
        await ask(sql.ADD_GRANT, ...its);
        return true;
      } catch (error) {
        // The session has gone, before this or at the same time.
        if (codeOf(error) === FOREIGN_KEY_VIOLATION) return false;
        throw error;
      }
    },
    grants: async (hashes) => (await ask(sql.GRANTS, hashes)).map(toGrant),
    async removeGrant(hash) {
      await ask(sql.REMOVE_GRANT, hash);
    },
    async extendGrants(hashes, openUntil) {
      await ask(sql.EXTEND_GRANTS, hashes, openUntil);
    },
    async removeClosedGrants(before, limit) {
      await ask(sql.REMOVE_CLOSED_GRANTS, before, limit);
    },
    async version() {
      const askedAt = performance.now();
      const [found] = await ask(sql.VERSION);
      if (found !== undefined) clock.learn(found.now, askedAt);
      return found?.count ?? 0;
    },
    now: clock.now,
    counts: {
      async add(counts, windowMs) {
        const [rows] = await Promise.all([
          ask(sql.ADD_REQUESTS, [...counts.keys()], [...counts.values()], windowMs),
          ask(sql.REMOVE_OLD_WINDOWS, WINDOWS_AT_ONCE),
        ]);
        return new Map(rows.map(({ owner, count, leftMs }) => [owner, { count, leftMs }]));
      },
    },
    close: link.end,
  };

  try {
    await store.version();
    return store;
  } catch (error) {
    await store.close();
    throw asStartRefusal(error, url);
  }
}

function toToken({ hash: _, scopes, ...row }: sql.TokenRow): TokenRecord {
  return { ...row, scopes: scopesIn(scopes) };
}

function toGrant({ scopes, taskId, conversationId, token, ...row }: sql.GrantRow): KnownGrant {
  const subject = row.kind === 'ticket' ? { taskId, conversationId } : null;
  return { ...row, scopes: scopesIn(scopes), subject, token: token && toToken(token) };
}
