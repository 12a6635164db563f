import { copyFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteAccess } from '../../src/store/sqlite/access/open.ts';
import { StoreError } from '../../src/store/store.ts';
import { createApi } from '../support/api.ts';
import { startServerProcess } from '../support/server-process.ts';
import { newDirectory } from '../support/store-directory.ts';
import { onlyOnSqlite } from '../support/test-engine.ts';
import { makeToken } from '../support/token.ts';

// Would fail if the server went on with a file that nobody else sees: a token that was revoked would stay good.
test('a server whose `access.db` is replaced under it ends, and says why', async ({ skip }) => {
  onlyOnSqlite(skip);
  const dataDir = newDirectory();
  const { token } = await makeToken(dataDir, 'ann', ['tasks:read']);
  const server = await startServerProcess({ dataDir, flags: ['--auth', 'token'] });
  expect((await createApi(server.url, token).get('/v1/tasks')).status).toBe(200);

  const file = path.join(dataDir, 'access.db');
  copyFileSync(file, `${file}.copy`);
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  copyFileSync(`${file}.copy`, file);

  await expect.poll(() => server.stderr(), { timeout: 10_000 }).toContain('access.db was replaced or removed');
  expect(await server.stop()).toBe(1);
});

test('the store tells of it by itself', async () => {
  const dataDir = newDirectory();
  const store = openSqliteAccess(dataDir, 'server');
  expect(await store.version()).toBe(await store.version());
  rmSync(path.join(dataDir, 'access.db'));
  await expect(store.version()).rejects.toThrow(StoreError);
  await store.close();
});
