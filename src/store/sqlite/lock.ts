import { join } from 'node:path';
import Database from 'better-sqlite3';
import { StartRefusal } from '../start-refusal.ts';
import { asStartRefusal, notWritable } from './start-refusal.ts';

/** What holds a directory for this process. */
export interface DirectoryLock {
  release(): void;
}

/**
 * Takes a data directory for the life of the process. The lock is the operating system's, on a side file: it dies with
 * the process, however that ends.
 *
 * @throws StartRefusal naming the directory when another server has it, or the lock cannot be made
 */
export function lockDirectory(dir: string): DirectoryLock {
  const file = join(dir, 'holdfast.lock');
  const db = openLock(file);
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('begin exclusive');
  } catch (error) {
    db.close();
    throw isBusy(error)
      ? new StartRefusal(
          `The data directory ${dir} is in use by another Holdfast server; stop that one, or choose another with --data.`,
          error,
        )
      : notLocked(error, file);
  }
  return { release: () => db.close() };
}

function openLock(file: string): Database.Database {
  try {
    return new Database(file, { timeout: 0 });
  } catch (error) {
    throw notLocked(error, file);
  }
}

/** A lock that cannot be made or written is one of a directory that cannot be. */
function notLocked(error: unknown, file: string): unknown {
  const isReadOnly = /^SQLITE_(CANTOPEN|READONLY)/.test(codeOf(error));
  return isReadOnly ? new StartRefusal(notWritable(file, codeOf(error)), error) : asStartRefusal(error, file);
}

function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
