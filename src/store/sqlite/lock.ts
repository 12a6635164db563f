import { join } from 'node:path';
import Database from 'better-sqlite3';

/** What holds a directory for this process. */
export interface DirectoryLock {
  release(): void;
}

/**
 * Takes a data directory for the life of the process. The lock is the operating system's, on a side file: it dies with
 * the process, however that ends.
 *
 * @throws Error naming the directory when another server has it
 */
export function lockDirectory(dir: string): DirectoryLock {
  const db = new Database(join(dir, 'holdfast.lock'), { timeout: 0 });
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('begin exclusive');
  } catch (error) {
    db.close();
    throw new Error(
      `The data directory ${dir} is in use by another Holdfast server; stop that one, or choose another with --data.`,
      { cause: error },
    );
  }
  return { release: () => db.close() };
}
