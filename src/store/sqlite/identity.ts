import { fileURLToPath } from 'node:url';
import type { Database } from 'better-sqlite3';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { StartRefusal } from '../start-refusal.ts';

/** The same depth below the package from `src/` and from `dist/`. */
export const MIGRATIONS = fileURLToPath(new URL('../../../migrations/sqlite', import.meta.url));

/** "Hold" in ASCII: at byte 68 of every database of Holdfast, by which `file` and others know it. */
const APPLICATION_ID = 0x486f6c64;

/** How drizzle notes what has been run. */
export const APPLIED = '__drizzle_migrations';

/**
 * Sees that a database is one of Holdfast's that this version can use, or is empty. Nothing is written.
 *
 * @throws StartRefusal when it is something else's, or another version's
 */
export function inspectIdentity(db: Database, file: string): void {
  const id = Number(db.pragma('application_id', { simple: true }));
  const tables = db.prepare("select name from sqlite_schema where type = 'table'").pluck().all();
  const isMarked = id === APPLICATION_ID;
  if (tables.length === 0 && (isMarked || id === 0)) return;
  // Before it was marked, a database of ours had these already.
  const isOurs = isMarked || (id === 0 && tables.includes(APPLIED) && tables.includes('log'));
  if (!isOurs) {
    throw new StartRefusal(
      `${file} is a database of something else than Holdfast; choose another directory with --data.`,
    );
  }
  if (tables.includes(APPLIED)) refuseUnknownMigrations(db, file);
}

/** Marks a database as Holdfast's. */
export function markIdentity(db: Database): void {
  if (db.pragma('application_id', { simple: true }) === APPLICATION_ID) return;
  db.pragma(`application_id = ${APPLICATION_ID}`);
}

function refuseUnknownMigrations(db: Database, file: string): void {
  const known = readMigrationFiles({ migrationsFolder: MIGRATIONS });
  const hashes = new Set(known.map(({ hash }) => hash));
  const newest = Math.max(...known.map(({ folderMillis }) => folderMillis));
  const applied = db.prepare<[], { hash: string; at: number }>(`select hash, created_at as at from ${APPLIED}`).all();
  const unknown = applied.filter(({ hash }) => !hashes.has(hash));
  if (unknown.length === 0) return;
  throw new StartRefusal(
    unknown.some(({ at }) => at > newest)
      ? `${file} was made by a newer version of Holdfast; start that version, or put back a backup from before it.`
      : `${file} was made by an unreleased version of Holdfast, whose tables this one does not know; choose another directory with --data.`,
  );
}
