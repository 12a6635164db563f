import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { databaseFile } from '../../src/store/sqlite/connection.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { StoreError } from '../../src/store/store.ts';
import { newDirectory } from '../support/store-directory.ts';
import { Owner } from '../support/store-owner.ts';

const HEADER_BYTES = 4096;

/** docs/durability.md: a process that finds its database broken ends. What it is told of here, `server.ts` ends it for. */
test('a read that finds the database broken is told to whoever watches the store', async () => {
  const dir = newDirectory();
  const store = await openSqliteStore({ dir });
  const task = await new Owner(store, 'ann').start();
  await store.close();
  const again = await openSqliteStore({ dir });
  const failures: StoreError[] = [];
  again.watch({ onFailed: (error) => failures.push(error), onLogHeld() {}, onForeign() {} });

  overwrite(databaseFile(dir));

  await expect(again.task('ann', task.id)).rejects.toThrow();
  expect(failures.map(({ code }) => code)).toEqual(['storage_failed']);
  await expect(again.snapshot((reads) => reads.task('ann', task.id))).rejects.toThrow();
  expect(failures.at(1)).toMatchObject({ code: 'storage_failed' });
  expect(failures[0]?.cause).toMatchObject({ code: expect.stringMatching(/^SQLITE_(CORRUPT|NOTADB)/) });
  await again.close();
});

/** All but the header is garbage from now on. */
function overwrite(file: string): void {
  const { size } = statSync(file);
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(size - HEADER_BYTES, 0xaa), 0, size - HEADER_BYTES, HEADER_BYTES);
  closeSync(descriptor);
}
