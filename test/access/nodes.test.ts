import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Access } from '../../src/access/access.ts';
import { createToken, revokeToken } from '../../src/access/token-list.ts';
import { SCOPES, type Scope } from '../../src/model/access.ts';
import { HoldfastError } from '../../src/model/error.ts';
import type { AccessStore } from '../../src/store/access.ts';
import { openPostgresAccess } from '../../src/store/postgres/access/open.ts';
import { StoreError } from '../../src/store/store.ts';
import { openAccess } from '../support/open-access.ts';
import { createTestDatabase, findPostgres, type TestDatabase } from '../support/postgres-server.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const EVERYTHING = { taskId: null, conversationId: null };
const NOTHING = { bearer: null, ticket: null, session: null };
/** It is looked at twice a second; the rest is for a machine that is busy. */
const WITHIN_MS = 2000;

const postgres = await findPostgres();

describe.skipIf(postgres === null)('several servers on one PostgreSQL', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  /** Of an operator. */
  let store: AccessStore;
  let here: Node;
  /** Its database can be taken away. */
  let there: Node;
  beforeAll(async () => {
    database = await createTestDatabase();
    const url = new URL(database.url);
    proxy = await openTcpProxy([Number(url.port || 5432)]);
    const past = new URL(url);
    past.hostname = '127.0.0.1';
    past.port = `${proxy.port}`;
    store = await openPostgresAccess({ url: database.url, use: 'operator' });
    here = await openNode(database.url);
    there = await openNode(past.href);
  });
  afterAll(async () => {
    await Promise.all([here.close(), there.close(), store.close()]);
    await proxy.close();
    await database.drop();
  });

  function newToken(scopes: readonly Scope[] = SCOPES) {
    return createToken(store, { owner: 'ann', scopes, expiresInMs: null });
  }

  test('a token is good everywhere as soon as it is made, and nowhere once it is revoked', async () => {
    const { id, token } = await newToken();
    for (const { access } of [here, there]) {
      expect(await access.authenticate({ ...NOTHING, bearer: token })).toMatchObject({ owner: 'ann' });
    }

    await revokeToken(store, id);

    for (const { access } of [here, there]) await refused(access.authenticate({ ...NOTHING, bearer: token }));
  });

  test('a ticket or a session that one server gave opens at another, and goes with its token there', async () => {
    const { id, token } = await newToken();
    const principal = await here.access.authenticate({ ...NOTHING, bearer: token });
    const ticket = {
      secret: (await here.access.grantTicket(principal, EVERYTHING, 60_000)).secret,
      subject: EVERYTHING,
    };
    const session = (await here.access.grantSession(principal)).secret;

    const read = await there.access.authenticate({ ...NOTHING, ticket });
    const seen = await there.access.authenticate({ ...NOTHING, session });
    expect(read.scopes).toEqual(['tasks:read']);
    expect(seen.scopes).toEqual(SCOPES);

    await revokeToken(store, id);
    expect(await there.access.isGood(read)).toBe(false);
    expect(await there.access.isGood(seen)).toBe(false);
  });

  test('what a token, or what it was traded for, holds open at any of them ends with it', async () => {
    const { id, token } = await newToken();
    const by = { ...NOTHING, bearer: token };
    const principal = await here.access.authenticate(by);
    const ticket = {
      secret: (await here.access.grantTicket(principal, EVERYTHING, 60_000)).secret,
      subject: EVERYTHING,
    };
    const session = (await there.access.grantSession(principal)).secret;
    const held = [];
    for (const { access } of [here, there]) {
      for (const presented of [by, { ...NOTHING, ticket }, { ...NOTHING, session }]) {
        held.push(ended(access, await access.authenticate(presented)));
      }
    }
    const bearer = (await newToken()).token;
    const another = ended(here.access, await here.access.authenticate({ ...NOTHING, bearer }));
    // They are looked at once, and found good.
    await Promise.all([here.looked(), there.looked()]);
    expect(held.some(({ isOver }) => isOver)).toBe(false);

    const since = performance.now();
    await revokeToken(store, id);
    await Promise.all(held.map(({ promise }) => promise));

    expect(performance.now() - since).toBeLessThan(WITHIN_MS);
    expect(another.isOver).toBe(false);
  });

  test('a session that is ended at one of them ends what it holds open at another', async () => {
    const principal = await here.access.authenticate({ ...NOTHING, bearer: (await newToken()).token });
    const session = (await here.access.grantSession(principal)).secret;
    const held = ended(here.access, await here.access.authenticate({ ...NOTHING, session }));
    await here.looked();

    const since = performance.now();
    await there.access.endSession(await there.access.authenticate({ ...NOTHING, session }));
    await held.promise;

    expect(performance.now() - since).toBeLessThan(WITHIN_MS);
  });

  // Would fail if only a change that comes after it were seen: the stream would stay open for ever.
  test('what is opened while its token is being revoked ends as well', async () => {
    const { id, token } = await newToken();
    const principal = await there.access.authenticate({ ...NOTHING, bearer: token });
    await revokeToken(store, id);
    await there.looked();

    await ended(there.access, principal).promise;
  });

  test('nobody is told to be a stranger while the database is away, and what is open stays so', async () => {
    const { id, token } = await newToken();
    const by = { ...NOTHING, bearer: token };
    const held = ended(there.access, await there.access.authenticate(by));
    const { targets } = proxy;
    proxy.targets = [];
    proxy.cut();

    const error = await there.access.authenticate(by).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HoldfastError);
    expect(error).toMatchObject({ code: 'storage_unavailable' });
    await expect.poll(() => there.troubles.length).toBe(1);
    expect(there.troubles[0]).toMatchObject({ code: 'storage_unavailable' });
    expect(there.troubles[0]).toBeInstanceOf(StoreError);
    await revokeToken(store, id);
    expect(held.isOver).toBe(false);
    proxy.targets = targets;

    await held.promise;
    await refused(there.access.authenticate(by));
    expect(there.troubles).toHaveLength(1);
  });

  test('a connection that is lost on the way is not noticed by who asks', async () => {
    const { token } = await newToken();
    for (let round = 0; round < 20; round++) {
      const asked = Array.from({ length: 5 }, () => there.access.authenticate({ ...NOTHING, bearer: token }));
      proxy.cut();
      for (const { owner } of await Promise.all(asked)) expect(owner).toBe('ann');
    }
  });

  test('those that start together make the tables once', async () => {
    const fresh = await createTestDatabase();
    const stores = await Promise.all(Array.from({ length: 4 }, () => openPostgresAccess({ url: fresh.url })));
    await createToken(stores[0] as AccessStore, { owner: 'ann', scopes: SCOPES, expiresInMs: null });
    for (const each of stores) expect(await each.tokens()).toHaveLength(1);
    await Promise.all(stores.map((each) => each.close()));
    await fresh.drop();
  });
});

interface Node {
  access: Access;
  store: AccessStore;
  troubles: unknown[];
  /** Settles when it has looked at all that was open, and ended what was to end. */
  looked(): Promise<void>;
  close(): Promise<void>;
}

async function openNode(url: string): Promise<Node> {
  const store = await openPostgresAccess({ url });
  const troubles: unknown[] = [];
  let looks = 0;
  const version = async () => {
    const current = await store.version();
    looks++;
    return current;
  };
  const access = openAccess({
    mode: 'token',
    store: { ...store, version },
    onTrouble: (error) => troubles.push(error),
  });
  return {
    access,
    store,
    troubles,
    async looked() {
      const before = looks;
      // When the second one begins, the first one is done.
      await expect.poll(() => looks - before, { timeout: 5000 }).toBeGreaterThanOrEqual(2);
    },
    async close() {
      access.close();
      await store.close();
    },
  };
}

function ended(access: Access, principal: Parameters<Access['hold']>[0]): { promise: Promise<void>; isOver: boolean } {
  const held = { isOver: false, promise: Promise.resolve() };
  held.promise = new Promise((resolve) => {
    access.hold(principal, () => {
      held.isOver = true;
      resolve();
    });
  });
  return held;
}

async function refused(asked: Promise<unknown>): Promise<void> {
  const error = await asked.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: 'unauthorized' });
}
