import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { StartRefusal } from '../start-refusal.ts';
import { corrupt } from './start-refusal.ts';

/** Up to this size the whole file is looked through at each start: 3 ms a MiB, 0.1 s in all. */
const LOOKED_THROUGH_BYTES = 32 * 1024 * 1024;
const MAX_FINDINGS = 20;

/**
 * What of a database's wholeness can be seen at a start without anybody waiting for it: a small one is looked through, of
 * a large one the ends of its tables; its length SQLite looks at by itself. The WAL must have been moved into it.
 *
 * @param lookedThroughBytes up to which size a database is small
 * @throws StartRefusal when it is corrupt
 * @throws SqliteError when SQLite finds that itself
 */
export function checkAtStart(db: Database, file: string, lookedThroughBytes = LOOKED_THROUGH_BYTES): void {
  if (statSync(file).size > lookedThroughBytes) touchTables(db);
  else refuseFindings(db.prepare<[], string>('pragma quick_check(1)').pluck().all(), file);
}

/** Everything that is wrong with a database, in at most 20 lines; none when it is whole. Reads all of it, and every index. */
export function findDamage(db: Database): string[] {
  const found = db.prepare<[], string>(`pragma integrity_check(${MAX_FINDINGS})`).pluck().all();
  const orphans = db.prepare<[], { table: string }>('pragma foreign_key_check').all();
  const dangling = orphans.map(({ table }) => `a row of ${table} points to one that is not there`);
  return [...found.filter((line) => line !== 'ok'), ...dangling].slice(0, MAX_FINDINGS);
}

/** Down to the last row of each: all of their keys begin with the first column. */
function touchTables(db: Database): void {
  const last = db.prepare<[], { name: string; first: string }>(
    `select schema.name, first.name as first from sqlite_schema as schema, pragma_table_info(schema.name) as first
      where schema.type = 'table' and first.cid = 0`,
  );
  for (const { name, first } of last.all())
    db.prepare(`select * from "${name}" order by "${first}" desc limit 1`).get();
}

function refuseFindings(lines: readonly string[], file: string): void {
  const [first = 'ok'] = lines;
  if (first !== 'ok') throw new StartRefusal(corrupt(file, first.replaceAll('\n', ' ')));
}
