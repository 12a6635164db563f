import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { createTestDatabase, findPostgres, runSql, type TestDatabase } from '../../support/postgres-server.ts';
import { Owner } from '../../support/store-owner.ts';

const server = await findPostgres();

describe.skipIf(server === null)('The epoch of a database', () => {
  let database: TestDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await createTestDatabase();
    store = await openPostgresStore({ url: database.url });
  });
  afterAll(async () => {
    await store?.close();
    await database?.drop();
  });

  test('stays while a process writes, whoever else does', async () => {
    const second = await openPostgresStore({ url: database.url });
    const owner = new Owner(store);
    await owner.create();
    await new Owner(second, owner.name).create();

    expect((await store.log(owner.name)).epochs).toEqual([{ epoch: second.epoch, firstSeq: 1 }]);
    expect(store.epoch).toBe(second.epoch);
    await second.close();
  });

  test('is another for each process that starts, and the logs have both', async () => {
    const owner = new Owner(store);
    await owner.create();
    const before = store.epoch;
    const second = await openPostgresStore({ url: database.url });

    await owner.create();

    expect(store.epoch).toBe(second.epoch);
    expect((await store.log(owner.name)).epochs).toEqual([
      { epoch: before, firstSeq: 1 },
      { epoch: second.epoch, firstSeq: 2 },
    ]);
    await second.close();
  });

  // What a restore of a dump, a promoted standby, and the start of a server over a copied directory leave in the row.
  const OWN = 'xid = pg_current_xact_id()::text::bigint';
  test.each([
    ['a dump', 'current = current'],
    ['another timeline', `timeline = '0000FFFF', ${OWN}`],
    ['an earlier start of the server', `started_at = '1', ${OWN}`],
  ])('is another when its row comes from %s, and one for all who find that at once', async (_, changed) => {
    const second = await openPostgresStore({ url: database.url });
    const owners = [new Owner(store), new Owner(second), new Owner(store), new Owner(second)];
    await Promise.all(owners.map((owner) => owner.create()));
    const before = second.epoch;
    await runSql(database.url, `update holdfast.epoch set ${changed}`);

    await Promise.all(owners.map((owner) => owner.create()));

    const { epoch } = store;
    expect(epoch).not.toBe(before);
    expect(second.epoch).toBe(epoch);
    for (const { name } of owners) {
      expect((await store.log(name)).epochs).toEqual([
        { epoch: before, firstSeq: 1 },
        { epoch, firstSeq: 2 },
      ]);
    }
    await owners[0]?.create();
    expect(store.epoch).toBe(epoch);
    await second.close();
  });

  test('is made where there is none', async () => {
    await runSql(database.url, 'delete from holdfast.epoch');
    const owner = new Owner(store);

    await owner.create();

    expect((await store.log(owner.name)).epochs).toEqual([{ epoch: store.epoch, firstSeq: 1 }]);
  });
});
