import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createOpenLink } from '../../../src/store/postgres/connection.ts';
import { createDatabaseClock } from '../../../src/store/postgres/database-clock.ts';
import { createLinks, type Links } from '../../../src/store/postgres/links.ts';
import { migrateDatabase } from '../../../src/store/postgres/migrate.ts';
import { loadPostgres } from '../../../src/store/postgres/postgres-module.ts';
import { createReads } from '../../../src/store/postgres/reads.ts';
import type { Queries, StoreError, StoreReads } from '../../../src/store/store.ts';
import { createTestDatabase, findPostgres, runSql, type TestDatabase } from '../../support/postgres-server.ts';
import { openTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

const STATEMENT_TIMEOUT_MS = 300;
const NOTHING = { head: 0, prunedSeq: 0, epochs: [] };
const UNAVAILABLE = expect.objectContaining({ code: 'storage_unavailable' });

const server = await findPostgres();

describe.skipIf(server === null)('A read', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let links: Links;
  let reads: StoreReads;
  const failures: StoreError[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
    await migrateDatabase(await loadPostgres(), { url: database.url });
    proxy = await openTcpProxy([Number(new URL(database.url).port || 5432)]);
  });
  beforeEach(async () => {
    failures.splice(0);
    const url = new URL(database.url);
    url.port = String(proxy.port);
    const open = createOpenLink(await loadPostgres(), { url: url.href, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
    links = createLinks(open, 2);
    const onFailed = (error: StoreError) => failures.push(error);
    reads = createReads(links, { clock: createDatabaseClock(), onFailed, onOwner() {} });
  });
  afterEach(() => links.end());
  afterAll(async () => {
    await proxy?.close();
    await database?.drop();
  });

  const both = (queries: Queries) => Promise.all([queries.log('ann'), queries.unfinishedRoots('ann')]);

  test('goes on another connection when the one that it would have was lost', async () => {
    expect(await reads.log('ann')).toEqual(NOTHING);
    await runSql(
      database.url,
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'holdfast'",
    );

    expect(await reads.log('ann')).toEqual(NOTHING);
    expect(await reads.snapshot(both)).toEqual([NOTHING, 0]);
  });

  test('says that the database cannot be reached while it cannot, and goes on when it can', async () => {
    const { targets } = proxy;
    await reads.log('ann');
    proxy.targets = [];
    proxy.cut();

    await expect(reads.log('ann')).rejects.toEqual(UNAVAILABLE);
    await expect(reads.snapshot(both)).rejects.toEqual(UNAVAILABLE);

    proxy.targets = targets;
    expect(await reads.log('ann')).toEqual(NOTHING);
    expect(failures).toEqual([]);
  });

  test('does not wait for ever for an answer on a path that was lost', async () => {
    await Promise.all([reads.snapshot(both), reads.snapshot(both)]);
    proxy.forget();

    await expect(reads.snapshot(both)).rejects.toEqual(UNAVAILABLE);

    // Nor for each connection that it was the path of.
    expect(await reads.snapshot(both)).toEqual([NOTHING, 0]);
  });

  test('does not wait for long for a lock, and does no harm to the next', async () => {
    const sql = postgres(database.url, { max: 1 });
    await sql.begin(async (tx) => {
      await tx.unsafe('lock table holdfast.log in access exclusive mode');
      await expect(reads.log('ann')).rejects.toEqual(UNAVAILABLE);
      await expect(reads.snapshot(both)).rejects.toEqual(UNAVAILABLE);
    });
    await sql.end();

    expect(await reads.snapshot(both)).toEqual([NOTHING, 0]);
    expect(failures).toEqual([]);
  });

  test('tells when what is stored cannot be read', async () => {
    await runSql(
      database.url,
      `alter table holdfast.idempotency_key rename to kept;
        create function holdfast.spoilt() returns setof holdfast.kept language plpgsql as
          $$ begin raise 'invalid page in block 0' using errcode = 'XX001'; end $$;
        create view holdfast.idempotency_key as select * from holdfast.spoilt()`,
    );

    await expect(reads.hasKey('ann', 'key')).rejects.toMatchObject({ code: 'storage_failed' });
    await expect(
      reads.snapshot((queries) => Promise.all([queries.log('ann'), queries.hasKey('ann', 'key')])),
    ).rejects.toMatchObject({ code: 'storage_failed' });

    await vi.waitFor(() => expect(failures).toHaveLength(2));
    await runSql(
      database.url,
      'drop view holdfast.idempotency_key; drop function holdfast.spoilt(); alter table holdfast.kept rename to idempotency_key',
    );
  });

  test('finds nothing under ids that no text of PostgreSQL can be', async () => {
    const id = 'task_\0\ud800';

    expect(await reads.task(id, id)).toBeNull();
    expect(await reads.question(id, id)).toBeNull();
    expect(await reads.conversation(id, id)).toBeNull();
    expect(await reads.hasKey(id, id)).toBe(false);
    expect(await reads.unfinishedFrom(id, id)).toBeNull();
    expect(await reads.listTasks(id, { agent: id, conversationId: id, limit: 5, order: 'asc', after: id })).toEqual([]);
    expect(await reads.listQuestions(id, { taskId: id, conversationId: id, limit: 5, after: id })).toEqual([]);
    expect(await reads.listMessages(id, { conversationId: id, limit: 5, order: 'asc', after: id })).toEqual([]);
    expect(await reads.listConversations(id, { limit: 5, after: { at: 0, id } })).toEqual([]);
    expect(await reads.claimable(5, new Set([id]), [id])).toEqual([]);
    const scope = { kind: 'child', taskId: id, rootId: id } as const;
    const query = { scope, after: 3, upTo: null, unfinishedAt: null, limit: 5 };
    expect(await reads.readEvents(id, query)).toEqual({ events: [], scannedTo: 3 });
  });

  test('takes a turn where more are asked than there are connections', async () => {
    const snapshots = Array.from({ length: 50 }, () => reads.snapshot(both));

    expect(await Promise.all(snapshots)).toEqual(Array(50).fill([NOTHING, 0]));
  });
});
