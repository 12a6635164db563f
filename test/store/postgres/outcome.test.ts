import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { type CommitProxy, type Cut, openCommitProxy } from '../../support/commit-proxy.ts';
import { createTestDatabase, findPostgres, runSql, type TestDatabase } from '../../support/postgres-server.ts';
import { createArgs, noteEvents, Owner } from '../../support/store-owner.ts';

const server = await findPostgres();

describe.skipIf(server === null)('A commit whose connection is lost', () => {
  let database: TestDatabase;
  let proxy: CommitProxy;
  let store: Store;
  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await openCommitProxy(database.url);
    store = await openPostgresStore({ url: proxy.url });
  });
  afterAll(async () => {
    await store?.close();
    await proxy?.close();
    await database?.drop();
  });

  test.each<Cut>(['before', 'after'])(
    '%s the server had it is done once, and given as if nothing had been',
    async (cut) => {
      const owner = new Owner(store);
      const task = await owner.start();
      proxy.cutNext(cut);

      const batch = await owner.append(task, noteEvents(task.id, 3));

      const { events } = await owner.read();
      expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
      expect(batch.events).toEqual(events.slice(2));
      await owner.append(task);
      expect((await owner.task(task.id)).emits).toBe(4);
    },
  );

  test.each<Cut>(['before', 'after'])(
    '%s the server had it is done once though it has written no event',
    async (cut) => {
      const owner = new Owner(store);
      const task = await owner.start();
      await owner.begin(task, 'fetch');
      proxy.cutNext(cut);

      await owner.begin(task, 'fetch', { step: { name: 'fetch', attempt: 2 } });

      const { rows } = await journalOf(owner, task.id);
      expect(rows).toEqual([{ key: 'fetch', tries: 2 }]);
    },
  );

  test('is known of only when the database answers again, and whoever comes behind it waits as long', async () => {
    const owner = new Owner(store);
    const task = await owner.start();
    const settled: string[] = [];
    proxy.cutNext('after', true);
    const first = owner.append(task).then(() => settled.push('first'));
    const second = owner.create().then(() => settled.push('second'));
    await vi.waitFor(() => expect(proxy.refused).toBeGreaterThan(3), { timeout: 5_000 });
    expect(settled).toEqual([]);
    proxy.open();

    await Promise.all([first, second]);

    expect(settled).toEqual(['first', 'second']);
    expect(await owner.seqs()).toEqual([1, 2, 3, 4]);
  });

  test('before anything of it was committed fails when the database cannot be reached, with all that wait behind it', async () => {
    const owner = new Owner(store);
    await owner.create();
    proxy.shut();

    const codes = await Promise.all(
      Array.from({ length: 60 }, () => owner.create().catch((error: { code?: string }) => error.code)),
    );
    proxy.open();

    expect(new Set(codes)).toEqual(new Set(['storage_unavailable']));
    await owner.create();
    expect(await owner.seqs()).toEqual([1, 2]);
  });

  test('by itself while it was idle is made anew, and nobody notices', async () => {
    const owner = new Owner(store);
    await Promise.all([owner.create(), new Owner(store).create(), new Owner(store).create()]);
    await runSql(
      database.url,
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state = 'idle'`,
    );

    await store.commit(owner.name, [{ verb: 'createTask', args: createArgs() }]);

    expect(await owner.seqs()).toEqual([1, 2]);
  });

  async function journalOf(owner: Owner, taskId: string) {
    const rows = await runSql(
      database.url,
      `select journal.key, tries from holdfast.journal join holdfast.task on task.key = journal.task
        join holdfast.log on log.id = task.log where owner = '${owner.name}' and task.id = '${taskId}'`,
    );
    return { rows: rows.map(({ key, tries }) => ({ key, tries })) };
  }
});
