import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRequestCount, type RequestCount } from '../../src/http/request-count.ts';
import type { AccessStore } from '../../src/store/access.ts';
import { openPostgresAccess } from '../../src/store/postgres/access/open.ts';
import { createTestDatabase, findPostgres, type TestDatabase } from '../support/postgres-server.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const WINDOW_SECONDS = 60;
const postgres = await findPostgres();

describe.skipIf(postgres === null)('two servers that count requests together', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let stores: [AccessStore, AccessStore];
  const closing: RequestCount[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
    const url = new URL(database.url);
    proxy = await openTcpProxy([Number(url.port || 5432)]);
    url.hostname = '127.0.0.1';
    url.port = `${proxy.port}`;
    stores = [await openPostgresAccess({ url: database.url }), await openPostgresAccess({ url: url.href })];
  });
  afterAll(async () => {
    for (const each of closing) each.close();
    await Promise.all(stores.map((store) => store.close()));
    await proxy.close();
    await database.drop();
  });

  function open(max: number, windowSeconds = WINDOW_SECONDS): [RequestCount, RequestCount] {
    const [here, there] = stores.map(({ counts }) => createRequestCount(max, windowSeconds, counts));
    if (here === undefined || there === undefined) throw new Error('There are two stores.');
    closing.push(here, there);
    return [here, there];
  }

  /** By a third server, which has told the others at once. */
  async function letIn(owner: string, times: number, windowSeconds: number): Promise<void> {
    await stores[0].counts?.add(new Map([[owner, times]]), windowSeconds * 1000);
  }

  async function addTimes(count: RequestCount, owner: string, times: number): Promise<number> {
    for (let n = 1; n < times; n++) await count.add(owner);
    return (await count.add(owner)).consumedPoints;
  }

  test('allow an owner together what one alone would, and tell how long it is until more', async () => {
    const [, there] = open(10);
    await letIn('ann', 10, WINDOW_SECONDS);

    // It is the first that this one hears of them, who have used up everything elsewhere.
    const first = await there.add('ann');

    expect(first.consumedPoints).toBe(11);
    expect(first.remainingPoints).toBe(0);
    expect(first.msBeforeNext).toBeGreaterThan(55_000);
    expect(first.msBeforeNext).toBeLessThanOrEqual(WINDOW_SECONDS * 1000);
    expect((await there.add('bob')).consumedPoints).toBe(1);
  });

  test('know of each other what they let in within a second, or a twentieth of what is allowed', async () => {
    const [here, there] = open(1000);
    await Promise.all([here.add('carl'), there.add('carl')]);

    await addTimes(here, 'carl', 7);
    await expect.poll(() => known(there, 'carl'), { timeout: 5000 }).toBeGreaterThanOrEqual(9);
    await addTimes(here, 'carl', 60);
    await addTimes(there, 'carl', 50);
    await expect.poll(() => known(there, 'carl'), { timeout: 5000 }).toBeGreaterThanOrEqual(119);
  });

  test('begin anew when the window is over', async () => {
    const [here, there] = open(50, 2);
    await letIn('dora', 50, 2);
    expect(await known(there, 'dora')).toBe(51);

    await expect.poll(() => known(there, 'dora'), { timeout: 5000 }).toBeLessThan(50);
    expect(await known(here, 'dora')).toBeLessThan(50);
  });

  test('count each by itself while the database is away, and together again when it is back', async () => {
    const [here, there] = open(20);
    await there.add('emil');
    const { targets } = proxy;
    proxy.targets = [];
    proxy.cut();

    expect(await addTimes(there, 'emil', 19)).toBe(20);
    expect(await known(there, 'emil')).toBeGreaterThan(20);
    proxy.targets = targets;

    // By and by, since nobody else asks there.
    await expect.poll(() => known(here, 'emil'), { timeout: 5000 }).toBeGreaterThan(20);
  });
});

/** With one more. */
async function known(count: RequestCount, owner: string): Promise<number> {
  return (await count.add(owner)).consumedPoints;
}
