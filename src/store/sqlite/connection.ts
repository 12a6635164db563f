import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import { inspectIdentity, MIGRATIONS, markIdentity } from './identity.ts';
import { asStartRefusal } from './start-refusal.ts';
import { checkAtStart } from './wholeness.ts';

const MIN_SQLITE = [3, 51, 3] as const;
const FULL = 2;
const BUSY_TIMEOUT_MS = 5_000;
/** After a checkpoint that emptied the WAL, its file is cut to this. */
const WAL_KEPT_BYTES = 32 * 1024 * 1024;

export function databaseFile(dir: string): string {
  return join(dir, 'holdfast.db');
}

/**
 * Makes the database of a directory if need be, sees that it can be used, and brings its schema up to this version. Whoever
 * calls it has the directory's lock. One connection does it all: were another the last to leave a WAL behind, SQLite would
 * move that by itself, and keep a failed sync to itself.
 *
 * @throws StartRefusal saying why not
 */
export function prepareFile(dir: string): void {
  const file = databaseFile(dir);
  try {
    refuseReadOnly(file);
    const db = openConnection(file, 'write', inspectIdentity);
    try {
      markIdentity(db);
      migrateSchema(db);
      db.pragma('wal_checkpoint(TRUNCATE)');
      checkAtStart(db, file);
    } finally {
      db.close();
    }
  } catch (error) {
    throw asStartRefusal(error, file);
  }
}

/** SQLite would open it for reading alone, and say so only when it is to be written. */
function refuseReadOnly(file: string): void {
  if (existsSync(file)) closeSync(openSync(file, 'r+'));
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
 * @param inspect looks at the database before anything of it can be changed
 * @throws Error when SQLite is too old, or does not sync as told
 * @see docs/decisions/002-on-disk-before-seen.md
 */
export function openConnection(
  file: string,
  mode: 'read' | 'write',
  inspect: (db: Database.Database, file: string) => void = () => {},
): Database.Database {
  const db = new Database(file, { readonly: mode === 'read', timeout: BUSY_TIMEOUT_MS });
  try {
    inspect(db, file);
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
