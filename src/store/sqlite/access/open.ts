import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { and, eq, inArray, isNull, lt, sql } from 'drizzle-orm';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import { scopesIn } from '../../../model/access.ts';
import type { AccessStore, GrantRecord, TokenRecord } from '../../access.ts';
import { StoreError } from '../../store.ts';
import { asStoreError } from '../failure.ts';
import { asStartRefusal } from '../start-refusal.ts';
import { accessGrant, token } from './schema.ts';

/** The same depth below the package from `src/` and from `dist/`. */
const MIGRATIONS = fileURLToPath(new URL('../../../../migrations/sqlite-access', import.meta.url));

/**
 * What a connection is for. An operator's waits for the disk, since tokens must last. A server's neither does nor waits
 * long for others, since requests wait meanwhile: a ticket that a power cut takes is got anew.
 */
const USES = {
  operator: { synchronous: 'FULL', timeout: 5000 },
  server: { synchronous: 'NORMAL', timeout: 250 },
} as const;

/**
 * Opens who may come in to a data directory, which is made if it is missing: `access.db`. Several processes may have it
 * open at once: a server, and whoever makes or revokes tokens meanwhile.
 *
 * @throws StartRefusal when it cannot be read or written
 */
export function openSqliteAccess(dir: string, use: keyof typeof USES): AccessStore {
  const { synchronous, timeout } = USES[use];
  mkdirSync(dir, { recursive: true });
  const file = join(dir, 'access.db');
  const db = new Database(file, { timeout });
  try {
    db.pragma('journal_mode = WAL');
    db.pragma(`synchronous = ${synchronous}`);
    const orm = drizzle(db);
    bringUpToDate(orm);
    return createSqliteAccess(db, orm, file);
  } catch (error) {
    db.close();
    throw asStartRefusal(error, file);
  }
}

function createSqliteAccess(db: Database.Database, orm: BetterSQLite3Database, file: string): AccessStore {
  const inode = inodeOf(file);
  const dataVersion = db.prepare<[], number>('pragma data_version').pluck();
  const tokenByHash = orm
    .select()
    .from(token)
    .where(eq(token.hash, sql.placeholder('hash')))
    .prepare();
  const tokenById = orm
    .select()
    .from(token)
    .where(eq(token.id, sql.placeholder('id')))
    .prepare();
  const grantByHash = orm
    .select()
    .from(accessGrant)
    .where(eq(accessGrant.hash, sql.placeholder('hash')))
    .prepare();

  function tokenOf(id: string): TokenRecord | null {
    return tokenById.all({ id }).map(toToken)[0] ?? null;
  }

  return {
    async addToken({ scopes, ...row }) {
      write(() =>
        orm
          .insert(token)
          .values({ ...row, scopes: scopes.join(' ') })
          .run(),
      );
    },
    tokenByHash: async (hash) => tokenByHash.all({ hash }).map(toToken)[0] ?? null,
    async tokens(ids) {
      if (ids !== undefined) return ids.flatMap((id) => tokenOf(id) ?? []).toSorted(byAge);
      return orm.select().from(token).orderBy(token.createdAt, token.id).all().map(toToken);
    },
    async revokeToken(id, at) {
      const isKnown = tokenById.get({ id }) !== undefined;
      const standing = and(eq(token.id, id), isNull(token.revokedAt));
      write(() => orm.update(token).set({ revokedAt: at }).where(standing).run());
      return isKnown;
    },
    async touchToken(id, at) {
      write(() => orm.update(token).set({ lastUsedAt: at }).where(eq(token.id, id)).run());
    },
    async addGrant({ scopes, subject, ...row }) {
      const ofWhat = { taskId: subject?.taskId ?? null, conversationId: subject?.conversationId ?? null };
      const grant = { ...row, ...ofWhat, scopes: scopes.join(' ') };
      return unlessOrphaned(() => write(() => orm.insert(accessGrant).values(grant).run()));
    },
    async grants(hashes) {
      const found = hashes.flatMap((hash) => grantByHash.all({ hash }).map(toGrant));
      return found.map((grant) => ({ ...grant, token: grant.tokenId === null ? null : tokenOf(grant.tokenId) }));
    },
    async removeGrant(hash) {
      write(() => orm.delete(accessGrant).where(eq(accessGrant.hash, hash)).run());
    },
    async extendGrants(hashes, openUntil) {
      const later = sql`max(open_until, min(ends_at, ${openUntil}))`;
      const these = inArray(accessGrant.hash, [...hashes]);
      write(() => orm.update(accessGrant).set({ openUntil: later }).where(these).run());
    },
    async removeClosedGrants(before, limit) {
      const closed = orm
        .select({ hash: accessGrant.hash })
        .from(accessGrant)
        .where(lt(accessGrant.openUntil, before))
        .limit(limit);
      write(() => orm.delete(accessGrant).where(inArray(accessGrant.hash, closed)).run());
    },
    async version() {
      if (inodeOf(file) !== inode)
        throw new StoreError('storage_failed', new Error(`${file} was replaced or removed.`));
      return dataVersion.get() ?? 0;
    },
    now: Date.now,
    counts: null,
    async close() {
      db.close();
    },
  };
}

/** Two processes may be the first to open it: then one of them finds that the other was quicker. */
function bringUpToDate(orm: BetterSQLite3Database): void {
  const run = () => migrate(orm, { migrationsFolder: MIGRATIONS });
  try {
    run();
  } catch {
    run();
  }
}

function inodeOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.ino ?? null;
}

function write<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw asStoreError(error);
  }
}

/** @returns false when what it refers to has gone */
function unlessOrphaned(insert: () => unknown): boolean {
  try {
    insert();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY') return false;
    throw error;
  }
}

function byAge(a: TokenRecord, b: TokenRecord): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}

function toToken({ hash, scopes, ...row }: typeof token.$inferSelect): TokenRecord {
  return { ...row, scopes: scopesIn(scopes) };
}

function toGrant({ scopes, taskId, conversationId, ...row }: typeof accessGrant.$inferSelect): GrantRecord {
  const subject = row.kind === 'ticket' ? { taskId, conversationId } : null;
  return { ...row, scopes: scopesIn(scopes), subject };
}
