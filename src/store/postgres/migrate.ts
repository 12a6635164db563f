import { fileURLToPath } from 'node:url';
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import { StartRefusal } from '../start-refusal.ts';
import { type ConnectionOptions, createOpenLink } from './connection.ts';
import type { Link } from './link.ts';
import type { Postgres } from './postgres-module.ts';
import { asStartRefusal, databaseName } from './start-refusal.ts';
import { statement } from './statement.ts';

/** Tables that are made and changed together, in a schema of their own. */
export interface TableSet {
  schema: string;
  /** One that it has had from the first. */
  table: string;
  /** Where its migrations are. */
  migrations: string;
}

const TASKS: TableSet = { schema: 'holdfast', table: 'log', migrations: migrationsIn('postgres') };

/** The same depth below the package from `src/` and from `dist/`. @returns the path of a folder of migrations */
export function migrationsIn(folder: string): string {
  return fileURLToPath(new URL(`../../../migrations/${folder}`, import.meta.url));
}

const MIN_VERSION = 14;
/** Tables may be large, and another node may be at it. */
const MIGRATION_TIMEOUT_MS = 10 * 60_000;
/** "Hold" in ASCII. */
const LOCK = 0x486f6c64;

/**
 * Brings the tables of a database up to this version, and makes them if need be. Nodes that start together take turns: all
 * of it is one transaction.
 *
 * @throws StartRefusal saying why the database cannot be used
 */
export async function migrateDatabase(
  postgres: Postgres,
  { url }: Pick<ConnectionOptions, 'url'>,
  set: TableSet = TASKS,
): Promise<void> {
  const open = createOpenLink(postgres, { url, statementTimeoutMs: MIGRATION_TIMEOUT_MS });
  try {
    const link = await open();
    try {
      await migrateOver(link, url, set);
    } finally {
      link.close();
    }
  } catch (error) {
    throw asStartRefusal(error, url);
  }
}

const SERVER = statement<{ version: number; encoding: string }>(
  `select current_setting('server_version_num')::int / 10000 as version, current_setting('server_encoding') as encoding`,
);
const TAKE_TURN = statement('select pg_advisory_xact_lock($1)');
const TABLES = statement<{ name: string }>('select tablename as name from pg_tables where schemaname = $1');
const COMMIT = statement('commit');

async function migrateOver(link: Link, url: string, set: TableSet): Promise<void> {
  for (const { version, encoding } of await link.ask(SERVER)) refuseServer(version, encoding, url);
  await Promise.all([link.begin(), link.ask(TAKE_TURN, LOCK)]);
  const migrations = readMigrationFiles({ migrationsFolder: set.migrations });
  const applied = await appliedTo(link, url, set, migrations);
  const note = statement(`insert into ${set.schema}.migration (hash, created_at) values ($1, $2)`);
  for (const { sql, hash, folderMillis } of migrations) {
    if (applied.has(hash)) continue;
    for (const text of sql) await link.ask(statement(text));
    await link.ask(note, hash, folderMillis);
  }
  await link.ask(COMMIT);
}

function refuseServer(version: number, encoding: string, url: string): void {
  const database = `The database ${databaseName(url)}`;
  if (version < MIN_VERSION)
    throw new StartRefusal(`${database} is PostgreSQL ${version}; it takes ${MIN_VERSION} at least.`);
  if (encoding !== 'UTF8') throw new StartRefusal(`${database} has the encoding ${encoding}; make one that has UTF8.`);
}

/** @returns hashes of the migrations that were run before; where none was, it has become possible to note them */
async function appliedTo(
  link: Link,
  url: string,
  { schema, table }: TableSet,
  known: readonly MigrationMeta[],
): Promise<ReadonlySet<string>> {
  const tables = (await link.ask(TABLES, schema)).map(({ name }) => name);
  if (tables.length === 0) {
    await link.ask(statement(`create schema if not exists ${schema}`));
    await link.ask(statement(`create table ${schema}.migration (hash text primary key, created_at bigint not null)`));
    return new Set();
  }
  if (!tables.includes('migration') || !tables.includes(table)) {
    throw new StartRefusal(
      `The schema ${schema} of the database ${databaseName(url)} is something else's; choose another database.`,
    );
  }
  const applied = await link.ask(appliedIn(schema));
  refuseUnknown(applied, known, url);
  return new Set(applied.map(({ hash }) => hash));
}

/**
 * How many migrations of this version a database has not had. Nothing is changed.
 *
 * @returns null where it has no tables of Holdfast
 * @throws StartRefusal when it has had one that this version does not know
 */
export async function countPending(link: Link, url: string): Promise<number | null> {
  const tables = (await link.ask(TABLES, TASKS.schema)).map(({ name }) => name);
  if (!tables.includes('migration') || !tables.includes(TASKS.table)) return null;
  const known = readMigrationFiles({ migrationsFolder: TASKS.migrations });
  const applied = await link.ask(appliedIn(TASKS.schema));
  refuseUnknown(applied, known, url);
  return known.length - applied.length;
}

function appliedIn(schema: string) {
  return statement<{ hash: string; at: number }>(`select hash, created_at as at from ${schema}.migration`);
}

function refuseUnknown(
  applied: readonly { hash: string; at: number }[],
  known: readonly MigrationMeta[],
  url: string,
): void {
  const hashes = new Set(known.map(({ hash }) => hash));
  const newest = Math.max(...known.map(({ folderMillis }) => folderMillis));
  const unknown = applied.filter(({ hash }) => !hashes.has(hash));
  if (unknown.length === 0) return;
  throw new StartRefusal(
    unknown.some(({ at }) => at > newest)
      ? `The database ${databaseName(url)} was made by a newer version of Holdfast; start that version, or restore a backup from before it.`
      : `The database ${databaseName(url)} was made by an unreleased version of Holdfast, whose tables this one does not know; choose another one.`,
  );
}
