import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { createTestDatabase, findPostgres, runSql, type TestDatabase } from '../../support/postgres-server.ts';
import { createArgs, newId, noteEvents, Owner } from '../../support/store-owner.ts';

const server = await findPostgres();

describe.skipIf(server === null)('Commits on PostgreSQL', () => {
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

  describe('of one owner', () => {
    test('are decided and settle in their order, and those that gather share a transaction', async () => {
      const owner = new Owner(store);
      await owner.create();
      const settled: number[] = [];

      const batches = await Promise.all(
        Array.from({ length: 200 }, async (_, n) => {
          const batch = await store.commit(owner.name, [{ verb: 'createTask', args: createArgs() }]);
          settled.push(n);
          return batch;
        }),
      );

      expect(settled).toEqual(settled.map((_, n) => n));
      expect(batches.map(({ firstSeq }) => firstSeq)).toEqual(batches.map((_, n) => n + 2));
      expect(batches.map(({ events }) => events.map(({ seq }) => seq))).toEqual(batches.map((_, n) => [n + 2]));
      // Of one transaction all are of one instant.
      expect(new Set(batches.map(({ now }) => now)).size).toBeLessThan(10);
      expect(await store.unfinishedRoots(owner.name)).toBe(201);
    });

    test('see in one transaction what those before them have done', async () => {
      const owner = new Owner(store);
      const args = createArgs();
      const claim = owner.claimArgs(args.taskId, { warm: false });
      const done = { taskId: args.taskId, fence: 1, output: 'done' };

      const [, claimed, appended, finished, late] = await Promise.all([
        store.commit(owner.name, [{ verb: 'createTask', args }]),
        store.commit(owner.name, [{ verb: 'claimTask', args: claim }]),
        owner.append({ ...(await started(args.taskId)), fence: 1 }, noteEvents(args.taskId, 2)),
        store.commit(owner.name, [{ verb: 'finishTask', args: done }]),
        store.commit(owner.name, [{ verb: 'finishTask', args: done }]),
      ]);

      expect(claimed.outcomes[0]).toMatchObject({
        ok: true,
        result: { task: { status: 'running', node: store.node } },
      });
      expect(appended.ords).toEqual([0]);
      expect(finished.outcomes[0]).toMatchObject({ ok: true, result: { task: { status: 'completed', lastSeq: 5 } } });
      expect(late.outcomes[0]).toMatchObject({ ok: false, code: 'lease_lost' });
      expect(late.firstSeq).toBe(6);
    });

    test('fail alone when it is a bug of their own', async () => {
      const owner = new Owner(store);
      const task = await owner.start();
      const gap = { taskId: task.id, fence: task.fence, after: 7, events: noteEvents(task.id, 1) };

      const [first, failed, last] = await Promise.allSettled([
        store.commit(owner.name, [{ verb: 'createTask', args: createArgs() }]),
        store.commit(owner.name, [{ verb: 'appendEvents', args: gap }]),
        store.commit(owner.name, [{ verb: 'createTask', args: createArgs() }]),
      ]);

      expect([first.status, failed.status, last.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(await owner.seqs()).toEqual([1, 2, 3, 4]);
    });

    test('that change nothing leave nothing, not even a log', async () => {
      const owner = new Owner(store);
      const nothing = { verb: 'cancelTask', args: { taskId: newId('task'), reason: null } } as const;

      const { outcomes } = await store.commit(owner.name, [nothing]);

      expect(outcomes[0]).toMatchObject({ ok: false, code: 'not_found' });
      const logs = await runSql(database.url, `select 1 from holdfast.log where owner = '${owner.name}'`);
      expect(logs).toHaveLength(0);
    });

    test('that claim under the name of a process that is dead come to nothing, and the others to what they do', async () => {
      const owner = new Owner(store);
      const [own, dead] = [await owner.create(), await owner.create()];
      await runSql(database.url, `insert into holdfast.node (id, expires_at, dead_at) values ('dead', 0, 1)`);

      const batch = await store.commit(owner.name, [
        { verb: 'claimTask', args: owner.claimArgs(dead.id, { node: 'dead' }) },
        { verb: 'claimTask', args: owner.claimArgs(own.id) },
        { verb: 'claimTask', args: owner.claimArgs(dead.id, { node: 'nobody' }) },
      ]);

      expect(batch.outcomes).toMatchObject([
        { ok: false, code: 'not_claimable' },
        { ok: true },
        { code: 'not_claimable' },
      ]);
      expect(batch.eventCounts).toEqual([0, 1, 0]);
      expect((await owner.task(dead.id)).status).toBe('queued');
    });
  });

  describe('of several owners', () => {
    test('do not wait for one whose log another process has in hand, which goes on where that one has ended', async () => {
      const [held, free] = [new Owner(store), new Owner(store)];
      await held.create();
      const other = postgres(database.url, { max: 1 });
      let waits = true;

      await other
        .begin(async (sql) => {
          await sql.unsafe(`select 1 from holdfast.log where owner = '${held.name}' for update`);
          const waiting = held.create().then(() => {
            waits = false;
          });
          await Promise.all(Array.from({ length: 20 }, () => free.create()));
          expect(waits).toBe(true);
          await sql.unsafe(`insert into holdfast.event select id, head + 1, 0, 0, null, 1, 'note.taken', null, '{}'
            from holdfast.log where owner = '${held.name}'`);
          await sql.unsafe(`update holdfast.log set head = head + 1 where owner = '${held.name}'`);
          return [waiting];
        })
        .then(([waiting]) => waiting);

      expect((await held.task((await held.create()).id)).firstSeq).toBe(4);
      await other.end();
    });

    test('that are new go on in parallel, each with a log of its own', async () => {
      const owners = Array.from({ length: 40 }, () => new Owner(store));

      await Promise.all(owners.flatMap((owner) => [owner.create(), owner.create()]));

      for (const owner of owners) expect(await owner.seqs()).toEqual([1, 2]);
    });
  });

  describe('of two processes', () => {
    test('on one log have its seqs without a gap, and neither loses any', async () => {
      const second = await openPostgresStore({ url: database.url });
      const name = new Owner(store).name;
      const both = [new Owner(store, name), new Owner(second, name)];

      await Promise.all(both.flatMap((owner) => Array.from({ length: 60 }, () => owner.create())));

      expect(await both[0]?.seqs()).toEqual(Array.from({ length: 120 }, (_, n) => n + 1));
      await second.close();
    });
  });

  test('are waited for by close', async () => {
    const closing = await openPostgresStore({ url: database.url });
    const owner = new Owner(closing);
    const commits = Array.from({ length: 60 }, () => owner.create());

    await Promise.all([...commits, closing.close()]);

    expect(await new Owner(store, owner.name).seqs()).toHaveLength(60);
    await expect(owner.create()).rejects.toThrow('closed');
    await vi.waitFor(async () => expect(await connections(closing.node)).toBe(0));
  });

  /** As it will be. */
  async function started(id: string) {
    const other = new Owner(store);
    return { ...(await other.start()), id };
  }

  async function connections(node: string): Promise<number> {
    const rows = await runSql(database.url, `select 1 from holdfast.node where id = '${node}' and dead_at is null`);
    return rows.length;
  }
});
