import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Cluster } from '../../../src/store/cluster.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { createTestDatabase, findPostgres, runSql, type TestDatabase } from '../../support/postgres-server.ts';
import { Owner } from '../../support/store-owner.ts';

const postgres = await findPostgres();

describe.skipIf(postgres === null)('Nodes on one database', () => {
  let database: TestDatabase;
  let one: Store;
  let two: Store;
  const open = () => openPostgresStore({ url: database.url, poolSize: 2 });
  beforeAll(async () => {
    database = await createTestDatabase();
    one = await open();
    two = await open();
  });
  afterAll(async () => {
    await one.close();
    await two.close();
    await database.drop();
  });

  describe('have one duty', () => {
    test('between them, which stays where it is', async () => {
      const asked = await Promise.all(
        Array.from({ length: 20 }, (_, n) => clusterOf(n % 2 === 0 ? one : two).takeDuty('sweep')),
      );

      const holder = asked[0] ? one : two;
      expect(asked).toEqual(asked.map((_, n) => (n % 2 === 0) === (holder === one)));
      expect(await clusterOf(holder).takeDuty('sweep')).toBe(true);
    });

    test('that goes over when its time is over', async () => {
      const [holder, other] = await holderFirst();
      await runSql(database.url, 'update holdfast.duty set until = 0');

      expect(await clusterOf(other).takeDuty('sweep')).toBe(true);
      expect(await clusterOf(holder).takeDuty('sweep')).toBe(false);
    });

    test('that goes over at once when its holder closes, or is dead', async () => {
      const [holder, other] = await holderFirst();
      await runSql(database.url, `update holdfast.node set expires_at = 0 where id = '${holder.node}'`);

      expect(await clusterOf(other).takeDuty('sweep')).toBe(false);
      await clusterOf(other).buryDead();
      expect(await clusterOf(holder).takeDuty('sweep')).toBe(false);
      expect(await clusterOf(other).takeDuty('sweep')).toBe(true);
      await clusterOf(holder).renew();

      const third = await open();
      expect(await clusterOf(third).takeDuty('sweep')).toBe(false);
      if (other === one) one = await reopened(one);
      else two = await reopened(two);
      expect(await clusterOf(third).takeDuty('sweep')).toBe(true);
      await third.close();
    });

    async function holderFirst(): Promise<[Store, Store]> {
      return (await clusterOf(one).takeDuty('sweep')) ? [one, two] : [two, one];
    }

    async function reopened(store: Store): Promise<Store> {
      await store.close();
      return open();
    }
  });

  test('see how far logs have got', async () => {
    const [ann, ben] = [new Owner(one, 'ann\0'), new Owner(one)];
    await ann.append(await ann.start());
    await ben.create();

    expect(await clusterOf(two).heads([ann.name, 'nobody', ben.name])).toEqual(
      new Map([
        [ann.name, 3],
        [ben.name, 1],
      ]),
    );
    expect(await clusterOf(two).heads([])).toEqual(new Map());
  });

  test('tell each other of what they commit, and nobody of their own', async () => {
    const [ann, ben] = [new Owner(one), new Owner(two)];
    const told: { one: (ReadonlySet<string> | null)[]; two: (ReadonlySet<string> | null)[] } = { one: [], two: [] };
    await two.log(ann.name);
    one.watch({ onFailed() {}, onLogHeld() {}, onForeign: (owners) => told.one.push(owners) });
    two.watch({ onFailed() {}, onLogHeld() {}, onForeign: (owners) => told.two.push(owners) });
    await vi.waitFor(async () => {
      await ben.create();
      expect(told.one.length).toBeGreaterThan(0);
    });
    told.two.splice(0);

    await ann.create();

    await vi.waitFor(() => expect(told.two).toContainEqual(new Set([ann.name])));
  });

  describe('learn of copies of one task', () => {
    test('what has come to anything above what a copy was told, in order, without values of steps', async () => {
      const ann = new Owner(one);
      const task = await ann.start();
      await ann.step(task, 'first', '"large"');
      const { id } = await ann.ask(task, 'month\0');
      await ann.sleep(task, 'nap', 60_000);
      await ann.answer(id);
      await ann.step(task, 'third');
      const { ord } = await ann.task(task.id);

      const [all] = await clusterOf(two).copies(ann.name, [{ taskId: task.id, ord: 0 }]);
      const [rest] = await clusterOf(two).copies(ann.name, [{ taskId: task.id, ord: 1 }]);
      const [none] = await clusterOf(two).copies(ann.name, [{ taskId: task.id, ord }]);

      expect(all).toMatchObject({ taskId: task.id, fence: 1, status: 'running', ord });
      expect(all?.resolutions.map(({ key }) => key)).toEqual(['first', 'month\0', 'third']);
      expect(all?.resolutions[0]).toEqual({
        ...{ taskId: task.id, key: 'first', status: 'done', value: null, ord: 1, emitsDone: 0 },
        at: expect.any(Number),
      });
      expect(JSON.parse(all?.resolutions[1]?.value ?? '')).toMatchObject({ status: 'answered' });
      expect(rest).toEqual({ ...all, resolutions: all?.resolutions.slice(1) });
      expect(none).toEqual({ ...all, resolutions: [] });
    });

    test('which were claimed by another, have ended, or are not there', async () => {
      const ann = new Owner(one);
      const claimed = await ann.start();
      await ann.requeue(claimed, 'drained');
      await ann.claim(claimed.id);
      const cancelled = await ann.cancel((await ann.create()).id);
      const other = await new Owner(one).start();

      const known = [claimed, cancelled, other].map(({ id, ord }) => ({ taskId: id, ord }));
      const copies = await clusterOf(two).copies(ann.name, [...known, { taskId: 'task_none', ord: 0 }]);

      expect(copies).toEqual([
        { taskId: claimed.id, fence: 2, status: 'running', ord: 0, resolutions: [] },
        { taskId: cancelled.id, fence: 0, status: 'cancelled', ord: 0, resolutions: [] },
      ]);
      expect(await clusterOf(two).copies(ann.name, [])).toEqual([]);
      expect(await clusterOf(two).copies('nobody', known)).toEqual([]);
    });
  });
});

function clusterOf({ cluster }: Store): Cluster {
  if (cluster === null) throw new Error('Here is no cluster.');
  return cluster;
}
