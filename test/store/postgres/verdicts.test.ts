import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOpenLink } from '../../../src/store/postgres/connection.ts';
import type { Link } from '../../../src/store/postgres/link.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { lookUp, type Sent } from '../../../src/store/postgres/outcome.ts';
import { loadPostgres } from '../../../src/store/postgres/postgres-module.ts';
import { statement } from '../../../src/store/postgres/statement.ts';
import type { Committed, Store } from '../../../src/store/store.ts';
import { createTestDatabase, findPostgres, type TestDatabase } from '../../support/postgres-server.ts';
import { Owner } from '../../support/store-owner.ts';

type StoredLog = Sent['loaded']['log'];

const LOG = statement<StoredLog>('select id, head, batch from holdfast.log where owner = $1');
const server = await findPostgres();

describe.skipIf(server === null)('What became of a commit, once the server was started anew,', () => {
  let database: TestDatabase;
  let store: Store;
  let link: Link;
  beforeAll(async () => {
    database = await createTestDatabase();
    store = await openPostgresStore({ url: database.url });
    link = await createOpenLink(await loadPostgres(), { url: database.url, statementTimeoutMs: 5_000 })();
  });
  afterAll(async () => {
    link?.close();
    await store?.close();
    await database?.drop();
  });

  test('is told by the mark that it has left', async () => {
    const { before, after, batch } = await committed();

    expect(await lookUp(link, sent({ before, batch, mark: after.batch }))).toBe('committed');
    expect(await lookUp(link, sent({ before, mark: after.batch }))).toBe('committed');
  });

  test('is told by the mark that was there before, if it still is', async () => {
    const { after, batch } = await committed();

    expect(await lookUp(link, sent({ before: after, batch, mark: 1 }))).toBe('aborted');
  });

  test('is told by its events when others have come behind it', async () => {
    const { owner, before, batch } = await committed();
    await owner.create();

    expect(await lookUp(link, sent({ owner, before, batch, mark: 1 }))).toBe('committed');
    const other = batch.events.map((event) => ({ ...event, at: event.at - 1 }));
    expect(await lookUp(link, sent({ owner, before, batch: { events: other }, mark: 1 }))).toBe('aborted');
  });

  test('is known when the log is an older one, or gone: nothing of it is there', async () => {
    const { owner, before, batch } = await committed();

    const later = { ...before, head: before.head + 10, batch: 1 };
    expect(await lookUp(link, sent({ owner, before: later, batch, mark: 2 }))).toBe('aborted');
    expect(await lookUp(link, sent({ owner: new Owner(store), before, batch, mark: 2 }))).toBe('aborted');
  });

  test('cannot be known when it had no events and others have come behind it', async () => {
    const { owner, before } = await committed();

    expect(await lookUp(link, sent({ owner, before, mark: 1 }))).toBe('unknown');
  });

  let last: Owner;

  /** A commit, and the owner's log before and after it. */
  async function committed() {
    const owner = new Owner(store);
    last = owner;
    const task = await owner.start();
    const before = await logOf(owner);
    const batch: Pick<Committed, 'events'> = await owner.append(task);
    return { owner, before, after: await logOf(owner), batch };
  }

  async function logOf({ name }: Owner): Promise<StoredLog> {
    const [log] = await link.ask(LOG, name);
    if (log === undefined) throw new Error(`${name} has no log.`);
    return log;
  }

  /** As a transaction was sent to the server before its last start. */
  function sent(given: { owner?: Owner; before: StoredLog; batch?: Pick<Committed, 'events'>; mark: number }): Sent {
    const { owner = last, before, batch = { events: [] }, mark } = given;
    const instant = { now: 0, xid: 1, server: 'another', epoch: store.epoch, isOurs: true };
    return { owner: owner.name, loaded: { log: before, instant }, events: batch.events, mark };
  }
});
