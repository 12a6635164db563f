import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from 'drizzle-kit/api';
import { expect, test } from 'vitest';
import { migrateSchema } from '../../src/store/sqlite/connection.ts';
import * as conversations from '../../src/store/sqlite/conversation-schema.ts';
import * as logs from '../../src/store/sqlite/log-schema.ts';
import * as tasks from '../../src/store/sqlite/task-schema.ts';

const schema = { ...conversations, ...logs, ...tasks };

const META = fileURLToPath(new URL('../../migrations/sqlite/meta', import.meta.url));

type Snapshot = Awaited<ReturnType<typeof generateSQLiteDrizzleJson>>;

/** What drizzle-kit wrote down beside the newest migration. */
function newestSnapshot(): Snapshot {
  const files = readdirSync(META).filter((file) => file.endsWith('_snapshot.json'));
  return JSON.parse(readFileSync(join(META, files.sort().at(-1) ?? ''), 'utf8'));
}

/** A database that was made from the schema in one go. */
async function databaseOfSchema(): Promise<Database.Database> {
  const db = new Database(':memory:');
  const nothing = await generateSQLiteDrizzleJson({});
  const statements = await generateSQLiteMigration(nothing, await generateSQLiteDrizzleJson(schema));
  for (const statement of statements) db.exec(statement);
  return db;
}

/** A database as a server makes it. */
function databaseOfMigrations(): Database.Database {
  const db = new Database(':memory:');
  migrateSchema(db);
  db.exec('drop table __drizzle_migrations');
  return db;
}

interface Table {
  columns: unknown;
  foreignKeys: unknown;
  checks: string[];
  indexes: unknown;
}

/** What SQLite knows of each table, without what depends on how it came about: the order, and the names it made up. */
function tablesOf(db: Database.Database): { [name: string]: Table } {
  const names = db.prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'");
  const sqlOf = db.prepare('select sql from sqlite_schema where name = ?').pluck();
  const tables = names
    .pluck()
    .all()
    .map((name): [string, Table] => {
      const list = (what: string) =>
        db.prepare(`select * from pragma_${what}(?)`).all(name) as { [key: string]: unknown }[];
      const plain = (rows: { [key: string]: unknown }[]) =>
        rows.map(({ cid, id, seq, ...row }) => JSON.stringify(row)).sort();
      const indexes = list('index_list').map(({ seq, name: index, ...row }) => {
        const columns = db.prepare('select seqno, name, "desc", coll from pragma_index_xinfo(?) where key').all(index);
        return {
          ...row,
          name: row.origin === 'c' ? index : null,
          columns,
          sql: row.origin === 'c' ? sqlOf.get(index) : null,
        };
      });
      const checks = String(sqlOf.get(name)).match(/CONSTRAINT "\w+" CHECK\(.*\)/g) ?? [];
      return [
        String(name),
        {
          columns: plain(list('table_xinfo')),
          foreignKeys: plain(list('foreign_key_list')),
          checks: checks.sort(),
          indexes: indexes.map((index) => JSON.stringify(index)).sort(),
        },
      ];
    });
  return Object.fromEntries(tables);
}

test('the schema has nothing that waits for a migration', async () => {
  const written = newestSnapshot();

  const now = await generateSQLiteDrizzleJson(schema, written.id);

  expect(await generateSQLiteMigration(written, now)).toEqual([]);
  expect(now.tables).toEqual(written.tables);
});

test('a database of the migrations has the tables, columns, keys, checks and indexes of the schema', async () => {
  const [migrated, made] = [databaseOfMigrations(), await databaseOfSchema()];

  const tables = tablesOf(migrated);

  expect(tables).toEqual(tablesOf(made));
  expect(Object.keys(tables).sort()).toEqual([
    'agent',
    'conversation',
    'event',
    'idempotency_key',
    'journal',
    'log',
    'log_epoch',
    'message',
    'question',
    'task',
  ]);
  expect(tables.task?.checks.length).toBeGreaterThan(10);
  expect(tables.event?.indexes).toHaveLength(3);
});

test('the migrations are those that drizzle-kit has in its journal, in that order', () => {
  const journal: { entries: { idx: number; tag: string }[] } = JSON.parse(
    readFileSync(join(META, '_journal.json'), 'utf8'),
  );

  const files = readdirSync(join(META, '..')).filter((file) => file.endsWith('.sql'));

  expect(files.sort()).toEqual(journal.entries.map(({ tag }) => `${tag}.sql`));
  expect(journal.entries.map(({ idx }) => idx)).toEqual(files.map((_, index) => index));
});
