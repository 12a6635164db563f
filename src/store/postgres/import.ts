import { getTableColumns } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import type { MovedRow, MovedTable } from '../moved-tables.ts';
import { StartRefusal } from '../start-refusal.ts';
import { openPostgresAccess } from './access/open.ts';
import { accessGrant, token } from './access/schema.ts';
import { createOpenLink } from './connection.ts';
import { conversation, message } from './conversation-schema.ts';
import { NOW_MS } from './database-clock.ts';
import type { Link } from './link.ts';
import { event, idempotencyKey, log, logEpoch } from './log-schema.ts';
import { migrateDatabase } from './migrate.ts';
import { createMovedText, insertMoved } from './moved-row.ts';
import { loadPostgres } from './postgres-module.ts';
import { asStartRefusal, databaseName } from './start-refusal.ts';
import { statement } from './statement.ts';
import { journal, question, task } from './task-schema.ts';

const TABLES: Record<MovedTable, PgTable> = {
  ...{ log, logEpoch, task, conversation, journal, question, event, message, idempotencyKey, token, accessGrant },
};

/** What one statement takes, in rows and in characters of JSON. */
const BATCH_ROWS = 500;
const BATCH_CHARS = 1024 * 1024;
/** Statements that are on their way at a time: while one is run, the next is read. */
const UNDER_WAY = 2;
/** A statement of a batch takes ms; the last of all may have to wait for standbys. */
const STATEMENT_MS = 10 * 60_000;

/** An empty database that is filled in one transaction: until `finish` nobody sees anything of it. */
export interface Import {
  /** @param onRows how many more are stored */
  put(table: MovedTable, rows: Iterable<MovedRow>, onRows: (count: number) => void): Promise<void>;
  count(table: MovedTable): Promise<number>;
  /** Lets what is stored be seen, by all or by none. */
  finish(): Promise<void>;
  /** Leaves the database empty, unless it was finished. */
  close(): void;
}

/**
 * Makes the tables of a database, if need be, and begins to fill them.
 *
 * @throws StartRefusal when it cannot be used, holds anything, or a server has it open
 */
export async function openImport(url: string): Promise<Import> {
  const postgres = await loadPostgres();
  await migrateDatabase(postgres, { url });
  await (await openPostgresAccess({ url })).close();
  const open = createOpenLink(postgres, {
    url,
    statementTimeoutMs: STATEMENT_MS,
    settings: { idle_in_transaction_session_timeout: '0', synchronous_commit: 'on' },
  });
  try {
    const link = await open();
    try {
      await begin(link, url);
      return importOver(link);
    } catch (error) {
      link.close();
      throw error;
    }
  } catch (error) {
    throw asStartRefusal(error, url);
  }
}

/** Who held, for this database, what was running when the other one was left: it is dead, and others take over from it. */
const LEFT_BEHIND = 'moved';

const LOCK = statement('lock table holdfast.log, holdfast_access.token in exclusive mode');
const HELD_BY = statement<{ rows: boolean; nodes: boolean }>(
  `select exists (select from holdfast.log) or exists (select from holdfast_access.token) as rows,
    exists (select from holdfast.node where dead_at is null and expires_at > ${NOW_MS}) as nodes`,
);
const LEAVE = statement(
  `insert into holdfast.node (id, expires_at, dead_at) values ($1, 0, ${NOW_MS}) on conflict (id) do nothing`,
);
const CONTINUE_TURNS = statement(`select setval('holdfast.turns', max(turn)) from holdfast.log having max(turn) > 0`);
const COMMIT = statement('commit');

async function begin(link: Link, url: string): Promise<void> {
  await link.begin();
  await link.ask(LOCK);
  const [found] = await link.ask(HELD_BY);
  const name = `The database ${databaseName(url)}`;
  if (found?.rows) throw new StartRefusal(`${name} holds something already; choose an empty one.`);
  if (found?.nodes) throw new StartRefusal(`${name} is in use by a Holdfast server; stop that one first.`);
  await link.ask(LEAVE, LEFT_BEHIND);
}

function importOver(link: Link): Import {
  return {
    async put(name, rows, onRows) {
      const insert = statement(insertMoved(TABLES[name]));
      const textOf = createMovedText(TABLES[name]);
      const underWay: Promise<void>[] = [];
      for (const batch of batchesOf(rows, (row) => textOf({ ...row, ...insteadOf(name, row) }))) {
        if (underWay.length >= UNDER_WAY) await underWay.shift();
        const stored = link.ask(insert, `[${batch.join(',')}]`).then(() => onRows(batch.length));
        // It is awaited below, and what goes wrong first is told.
        stored.catch(() => {});
        underWay.push(stored);
      }
      for (const stored of underWay) await stored;
    },
    async count(name) {
      const [found] = await link.ask(statement<{ count: number }>(`select count(*) from ${nameOf(TABLES[name])}`));
      return found?.count ?? 0;
    },
    async finish() {
      for (const table of Object.values(TABLES)) {
        await link.ask(statement(continueKeys(table)));
        await link.ask(statement(`analyze ${nameOf(table)}`));
      }
      await link.ask(CONTINUE_TURNS);
      const { command } = await link.ask(COMMIT);
      if (command !== 'COMMIT') throw new Error(`The database said ${command} to the commit.`);
    },
    close: () => link.close(),
  };
}

/** What stands on a row here and not there. */
function insteadOf(table: MovedTable, row: MovedRow): MovedRow {
  if (table === 'log') return { batch: 0 };
  return table === 'task' && row.held === 1 ? { node: LEFT_BEHIND } : {};
}

function* batchesOf(rows: Iterable<MovedRow>, textOf: (row: MovedRow) => string): Iterable<string[]> {
  let batch: string[] = [];
  let chars = 0;
  for (const row of rows) {
    const text = textOf(row);
    batch.push(text);
    chars += text.length;
    if (batch.length < BATCH_ROWS && chars < BATCH_CHARS) continue;
    yield batch;
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) yield batch;
}

/** Lets the database give keys above those that were taken over. */
function continueKeys(table: PgTable): string {
  const key = Object.values(getTableColumns(table)).find(({ generatedIdentity }) => generatedIdentity !== undefined);
  if (key === undefined) return 'select';
  const name = nameOf(table);
  return `select setval(pg_get_serial_sequence('${name}', '${key.name}'), max(${key.name})) from ${name} having count(*) > 0`;
}

function nameOf(table: PgTable): string {
  const { schema, name } = getTableConfig(table);
  return `${schema}.${name}`;
}
