import { existsSync } from 'node:fs';
import { checkDatabase } from '../store/sqlite/check.ts';
import { databaseFile } from '../store/sqlite/connection.ts';

/**
 * Reads the whole database of a data directory and says what is wrong with it.
 *
 * @returns the exit code: 0 when it is whole
 */
export function runCheck(dataDir: string): number {
  const file = databaseFile(dataDir);
  if (!existsSync(file)) return fail(`There is no ${file}.`);
  try {
    const { damage, bytes, ms } = checkDatabase(dataDir);
    for (const line of damage) process.stdout.write(`${line}\n`);
    if (damage.length > 0) return fail(`${file} is corrupt; put back a backup.`);
    process.stdout.write(`${file} is whole: ${bytes} bytes, looked through in ${Math.round(ms)} ms.\n`);
    return 0;
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

function fail(message: string): number {
  process.stderr.write(`error: ${message}\n`);
  return 1;
}
