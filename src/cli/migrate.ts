import { showDatabase } from '../option-values.ts';
import { MOVED_TABLES, type MovedTable } from '../store/moved-tables.ts';
import { type Import, openImport } from '../store/postgres/import.ts';
import { type Export, openExport } from '../store/sqlite/export.ts';

/** What takes longer says how far it is, this often. */
const TELL_EVERY_MS = 5000;

/**
 * Copies everything of a data directory into an empty PostgreSQL, in one transaction: a database that is not finished stays
 * empty, and the directory stays as it is.
 *
 * @param url may hold a password, which is told to nobody
 * @returns the exit code
 */
export async function runMigrate(from: string, url: string): Promise<number> {
  const name = showDatabase(url);
  let source: Export | null = null;
  let target: Import | null = null;
  let isEmpty = true;
  try {
    source = openExport(from);
    target = await openImport(url);
    const begun = performance.now();
    const counts = await copyAll(source, target);
    isEmpty = false;
    await target.finish();
    process.stdout.write(summary(counts, performance.now() - begun));
    process.stdout.write(`All of ${from} is in ${name}; the directory is as it was.\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : error}\n`);
    if (target !== null && isEmpty) process.stderr.write(`${name} was left empty, and ${from} as it was.\n`);
    if (!isEmpty) process.stderr.write(`${name} holds all or nothing now: see with holdfast check --database.\n`);
    return 1;
  } finally {
    target?.close();
    source?.close();
  }
}

type Counts = ReadonlyMap<MovedTable, number>;

/** @throws Error when the target has another number of rows than the source */
async function copyAll(source: Export, target: Import): Promise<Counts> {
  const counts = new Map(MOVED_TABLES.map((table) => [table, source.count(table)]));
  const progress = createProgress([...counts.values()].reduce((sum, count) => sum + count, 0));
  for (const [table, count] of counts) {
    await target.put(table, source.rows(table), progress.add);
    const stored = await target.count(table);
    if (stored !== count) throw new Error(`${table}: ${count} rows were there, and ${stored} have come.`);
  }
  return counts;
}

function createProgress(total: number) {
  let done = 0;
  let toldAt = performance.now();
  return {
    add(count: number) {
      done += count;
      if (performance.now() - toldAt < TELL_EVERY_MS) return;
      toldAt = performance.now();
      process.stderr.write(`${done} of ${total} rows\n`);
    },
  };
}

function summary(counts: Counts, ms: number): string {
  const width = Math.max(...[...counts.keys()].map((table) => table.length));
  const lines = [...counts].map(([table, count]) => `${table.padEnd(width)}  ${count}`);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const seconds = Math.max(ms, 1) / 1000;
  return `${lines.join('\n')}\n${total} rows in ${seconds.toFixed(1)} s, ${Math.round(total / seconds)} a second.\n`;
}
