import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { databaseFile, openConnection, prepareFile } from '../../src/store/sqlite/connection.ts';
import { openSqliteStore, openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { newDirectory } from '../support/store-directory.ts';
import { Owner } from '../support/store-owner.ts';

const CHILD = new URL('../support/store-child.ts', import.meta.url);

describe('a data directory', () => {
  const opened: Store[] = [];
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });
  const open = (dir: string) => {
    const store = openSqliteStoreInProcess({ dir });
    opened.push(store);
    return store;
  };

  test('is made when it is missing', async () => {
    const dir = join(newDirectory(), 'deep', 'below');

    expect(await open(dir).claimable(1)).toEqual([]);
  });

  test('belongs to one server at a time', async () => {
    const dir = newDirectory();
    open(dir);

    expect(() => openSqliteStoreInProcess({ dir })).toThrow(`${dir} is in use by another Holdfast server`);
    await expect(openSqliteStore({ dir })).rejects.toThrow(`${dir} is in use`);
  });

  test('is free again when its store is closed, and holds all that was written', async () => {
    const dir = newDirectory();
    const first = await openSqliteStore({ dir });
    const task = await new Owner(first, 'ann').start();
    await first.close();

    expect(await open(dir).task('ann', task.id)).toEqual(task);
  });

  test('is free again when its process was killed, and holds all that was acknowledged', async () => {
    const dir = newDirectory();
    const child = spawn(process.execPath, ['--import', 'tsx', fileURLToPath(CHILD), dir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [line] = await once(child.stdout, 'data');
    expect(() => openSqliteStoreInProcess({ dir })).toThrow('in use');

    child.kill('SIGKILL');
    await once(child, 'exit');

    expect((await open(dir).log('ann')).head).toBeGreaterThanOrEqual(Number(String(line).trim()));
  });

  test('is free again when its database could not be opened', () => {
    const dir = newDirectory();
    writeFileSync(databaseFile(dir), 'This is no database. '.repeat(100));

    expect(() => openSqliteStoreInProcess({ dir })).toThrow('is no SQLite database');
    expect(() => openSqliteStoreInProcess({ dir })).toThrow('is no SQLite database');
  });

  test.each(['read', 'write'] as const)(
    'is opened in WAL mode with `synchronous = FULL` and foreign keys by the connection that may %s',
    (mode) => {
      const dir = newDirectory();
      mkdirSync(dir, { recursive: true });
      prepareFile(dir);

      const db = openConnection(databaseFile(dir), mode);

      expect(db.pragma('synchronous', { simple: true })).toBe(2);
      expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
      expect(db.pragma('foreign_keys', { simple: true })).toBe(1);
      expect(db.pragma('busy_timeout', { simple: true })).toBe(5_000);
      db.close();
    },
  );

  test('cannot be written by the connection for reads', () => {
    const dir = newDirectory();
    prepareFile(dir);
    const db = openConnection(databaseFile(dir), 'read');

    expect(() => db.exec("insert into log (owner, head, pruned_seq) values ('ann', 0, 0)")).toThrow('readonly');
    db.close();
  });
});
