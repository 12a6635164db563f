import { existsSync } from 'node:fs';
import { checkDatabase } from '../store/sqlite/check.ts';
import { databaseFile } from '../store/sqlite/connection.ts';
import type { Storage } from './storage.ts';

/**
 * Reads the whole database of a data directory, or looks at that of several servers, and says what is wrong with it.
 *
 * @returns the exit code: 0 when it is whole
 */
export async function runCheck({ dataDir, database }: Storage): Promise<number> {
  try {
    if (database === null) return checkDirectory(dataDir);
    const postgres = await import('./check-database.ts');
    return await postgres.checkDatabase(database);
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

function checkDirectory(dataDir: string): number {
  const file = databaseFile(dataDir);
  if (!existsSync(file)) return fail(`There is no ${file}.`);
  const { damage, bytes, ms } = checkDatabase(dataDir);
  for (const line of damage) process.stdout.write(`${line}\n`);
  if (damage.length > 0) return fail(`${file} is corrupt; put back a backup.`);
  process.stdout.write(`${file} is whole: ${bytes} bytes, looked through in ${Math.round(ms)} ms.\n`);
  return 0;
}

function fail(message: string): number {
  process.stderr.write(`error: ${message}\n`);
  return 1;
}
