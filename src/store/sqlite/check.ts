import { statSync } from 'node:fs';
import { databaseFile, openConnection } from './connection.ts';
import { inspectIdentity } from './identity.ts';
import { lockDirectory } from './lock.ts';
import { asStartRefusal } from './start-refusal.ts';
import { findDamage } from './wholeness.ts';

export interface Checked {
  /** What is wrong, a line each; none when the database is whole. */
  damage: string[];
  bytes: number;
  ms: number;
}

/**
 * Reads all of a directory's database, which takes about 5 ms a MiB. Nobody else may have it meanwhile.
 *
 * @throws StartRefusal when it cannot be opened, or a server has it
 */
export function checkDatabase(dir: string): Checked {
  const lock = lockDirectory(dir);
  const file = databaseFile(dir);
  try {
    const db = openConnection(file, 'write', inspectIdentity);
    try {
      const begun = performance.now();
      const damage = findDamage(db);
      // SQLite would do it at the close, and keep a failed sync to itself.
      if (damage.length === 0) db.pragma('wal_checkpoint(TRUNCATE)');
      return { damage, bytes: statSync(file).size, ms: performance.now() - begun };
    } finally {
      db.close();
    }
  } catch (error) {
    throw asStartRefusal(error, file);
  } finally {
    lock.release();
  }
}
