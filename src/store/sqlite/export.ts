import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { getTableName } from 'drizzle-orm';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import type { MovedRow, MovedTable } from '../moved-tables.ts';
import { StartRefusal } from '../start-refusal.ts';
import { accessGrant, token } from './access/schema.ts';
import { selectColumns } from './columns.ts';
import { databaseFile, openConnection } from './connection.ts';
import { conversation, message } from './conversation-schema.ts';
import { APPLIED, inspectIdentity, MIGRATIONS } from './identity.ts';
import { lockDirectory } from './lock.ts';
import { event, idempotencyKey, log, logEpoch } from './log-schema.ts';
import { asStartRefusal } from './start-refusal.ts';
import { journal, question, task } from './task-schema.ts';

const TABLES = { log, logEpoch, task, conversation, journal, question, event, message, idempotencyKey };
const ACCESS_TABLES = { token, accessGrant };

/** All that a data directory holds, which nobody else has meanwhile and which stays as it is. */
export interface Export {
  count(table: MovedTable): number;
  /** In the order in which they came, one after the other: a table need not fit into memory. */
  rows(table: MovedTable): Iterable<MovedRow>;
  close(): void;
}

/** @throws StartRefusal when there is nothing, a server has it, or another version made it */
export function openExport(dir: string): Export {
  const file = databaseFile(dir);
  if (!existsSync(file)) throw new StartRefusal(`There is no ${file}.`);
  const lock = lockDirectory(dir);
  const open: Database.Database[] = [];
  try {
    const db = openConnection(file, 'read', inspectIdentity);
    open.push(db);
    refuseOlder(db, file);
    // Without authentication there is none.
    const accessFile = join(dir, 'access.db');
    const access = existsSync(accessFile) ? new Database(accessFile, { readonly: true }) : null;
    if (access !== null) open.push(access);
    return exportOf(db, access, close);
  } catch (error) {
    close();
    throw asStartRefusal(error, file);
  }

  function close(): void {
    for (const each of open.splice(0)) each.close();
    lock.release();
  }
}

function exportOf(db: Database.Database, access: Database.Database | null, close: () => void): Export {
  function statementOf(name: MovedTable, columns: string | null) {
    const isOfAccess = name === 'token' || name === 'accessGrant';
    const table = isOfAccess ? ACCESS_TABLES[name] : TABLES[name];
    const from = getTableName(table);
    const text = `select ${columns ?? selectColumns(table, from)} from ${from}`;
    return (isOfAccess ? access : db)?.prepare<[], MovedRow>(text);
  }
  return {
    count: (table) => Number(statementOf(table, 'count(*)')?.pluck().get() ?? 0),
    rows: (table) => statementOf(table, null)?.iterate() ?? [],
    close,
  };
}

/** Its tables are brought up to date by a start, which a copy is not. */
function refuseOlder(db: Database.Database, file: string): void {
  const known = readMigrationFiles({ migrationsFolder: MIGRATIONS }).length;
  const applied = Number(db.prepare(`select count(*) from ${APPLIED}`).pluck().get());
  if (applied >= known) return;
  throw new StartRefusal(
    `${file} was made by an older version of Holdfast; start a server of this version on it once.`,
  );
}
