import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';

const MIN_SQLITE = [3, 51, 3] as const;
const FULL = 2;
const BUSY_TIMEOUT_MS = 5_000;
/** After a checkpoint that emptied the WAL, its file is cut to this. */
const WAL_KEPT_BYTES = 32 * 1024 * 1024;
/** The same depth below the package from `src/` and from `dist/`. */
const MIGRATIONS = fileURLToPath(new URL('../../../migrations/sqlite', import.meta.url));

export function databaseFile(dir: string): string {
  return join(dir, 'holdfast.db');
}

/** Makes the directory and its database if need be, and brings the schema up to this version. */
export function prepareFile(dir: string): void {
  const db = openConnection(databaseFile(dir), 'write');
  try {
    migrateSchema(db);
    db.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    db.close();
  }
}

/** Foreign keys are off meanwhile: a migration that rebuilds a table must not cascade its children away. */
export function migrateSchema(db: Database.Database): void {
  db.pragma('foreign_keys = OFF');
  migrate(drizzle(db), { migrationsFolder: MIGRATIONS });
  db.pragma('foreign_keys = ON');
}

/**
 * Opens a database and makes sure that a commit is on disk before it returns.
 *
 * @param file a path, or `:memory:`, which has no disk to be on
 * @throws Error when SQLite is too old, or does not sync as told
 * @see docs/decisions/002-on-disk-before-seen.md
 */
export function openConnection(file: string, mode: 'read' | 'write'): Database.Database {
  const db = new Database(file, { readonly: mode === 'read', timeout: BUSY_TIMEOUT_MS });
  try {
    configure(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function configure(db: Database.Database): void {
  const version = String(db.prepare('select sqlite_version()').pluck().get());
  if (isOlder(version, MIN_SQLITE)) throw new Error(`SQLite ${version} is older than ${MIN_SQLITE.join('.')}.`);
  if (!db.readonly) db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  // The writer checkpoints by itself: SQLite's own checkpoints swallow a failed fsync.
  db.pragma('wal_autocheckpoint = 0');
  db.pragma(`journal_size_limit = ${WAL_KEPT_BYTES}`);
  // On a new file `synchronous` reads back rightly only after a first statement.
  db.prepare('select count(*) from sqlite_schema').get();
  const journal = db.pragma('journal_mode', { simple: true });
  const synchronous = db.pragma('synchronous', { simple: true });
  if (synchronous !== FULL) throw new Error(`SQLite runs with synchronous = ${synchronous}, not FULL.`);
  if (journal !== (db.memory ? 'memory' : 'wal'))
    throw new Error(`SQLite keeps its journal in ${journal} mode, not WAL.`);
}

function isOlder(version: string, than: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  const at = than.findIndex((part, index) => part !== parts[index]);
  return at >= 0 && (parts[at] ?? 0) < (than[at] ?? 0);
}
