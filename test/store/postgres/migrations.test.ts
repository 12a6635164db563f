import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { migrateDatabase } from '../../../src/store/postgres/migrate.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { loadPostgres } from '../../../src/store/postgres/postgres-module.ts';
import { StartRefusal } from '../../../src/store/start-refusal.ts';
import { createTestDatabase, findPostgres, runSql, type TestDatabase } from '../../support/postgres-server.ts';
import { Owner } from '../../support/store-owner.ts';

const CHILD = fileURLToPath(new URL('../../support/migrate-child.ts', import.meta.url));
const server = await findPostgres();

describe.skipIf(server === null)('The tables of a database', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  test('are made by one of four processes that start together', async () => {
    const children = await Promise.all(Array.from({ length: 4 }, () => startChild(database.url)));

    const codes = await Promise.all(children.map((go) => go()));

    expect(codes).toEqual([0, 0, 0, 0]);
    const store = await openPostgresStore({ url: database.url });
    await new Owner(store).create();
    await store.close();
    expect(await runSql(database.url, 'select hash from holdfast.migration')).toHaveLength(1);
  }, 30_000);

  test('are left alone when another version has made them', async () => {
    await migrate();
    await runSql(database.url, "insert into holdfast.migration values ('later', 9000000000000)");
    await expect(migrate()).rejects.toThrow(/made by a newer version of Holdfast/);

    await runSql(database.url, "update holdfast.migration set created_at = 1 where hash = 'later'");
    await expect(migrate()).rejects.toThrow(/unreleased version/);
  });

  test('are not made beside what is somebody else’s', async () => {
    await runSql(database.url, 'create schema holdfast');
    await runSql(database.url, 'create table holdfast.log (id int)');

    await expect(migrate()).rejects.toThrow(/is something else's; choose another database/);
  });

  test('are not made where text cannot be kept', async () => {
    const latin = await createTestDatabase(`template template0 encoding 'LATIN1' locale 'C'`);
    const store = openPostgresStore({ url: latin.url });

    await expect(store).rejects.toThrow(/has the encoding LATIN1; make one that has UTF8/);
    await latin.drop();
  });

  test('are refused in words that say what to do, and never with the password', async () => {
    const url = new URL(database.url);
    url.password = 'geheim';
    url.pathname = '/holdfast_nowhere';
    const nowhere = openPostgresStore({ url: url.href });
    await expect(nowhere).rejects.toThrow(StartRefusal);
    await expect(nowhere).rejects.toThrow(/^The database holdfast_nowhere at [^ ]+ does not exist/);

    url.port = '1';
    const nobody = await openPostgresStore({ url: url.href }).catch((error: Error) => error);
    expect(String(nobody)).toMatch(/cannot be reached: .*ECONNREFUSED/);
    expect(String(nobody)).not.toContain('geheim');
  });

  async function migrate(): Promise<void> {
    await migrateDatabase(await loadPostgres(), { url: database.url });
  }
});

/** @returns once it is ready: lets it go, and waits for its end */
async function startChild(url: string): Promise<() => Promise<unknown>> {
  const child = spawn(process.execPath, ['--import', 'tsx', CHILD, url], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return async () => {
    child.stdin.write('go');
    const [code] = await once(child, 'exit');
    return code;
  };
}
