import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { TaskRecord } from '../../../src/model/task.ts';
import type { Cluster } from '../../../src/store/cluster.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import type { AgentDescription, HeldTask, Store } from '../../../src/store/store.ts';
import { createTestDatabase, findPostgres, runSql, type TestDatabase } from '../../support/postgres-server.ts';
import { Owner } from '../../support/store-owner.ts';

const LEASE_MS = 30_000;

const postgres = await findPostgres();

describe.skipIf(postgres === null)('A node', () => {
  let database: TestDatabase;
  let one: Store;
  let two: Store;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    one = await open();
    two = await open();
  });
  afterEach(async () => {
    await one.close();
    await two.close();
    await runSql(database.url, 'truncate holdfast.task, holdfast.log cascade');
  });
  afterAll(() => database.drop());

  function open(): Promise<Store> {
    return openPostgresStore({ url: database.url, leaseMs: LEASE_MS, poolSize: 2 });
  }

  /** Its lease is over by the database's clock, without anybody's waiting for it. */
  async function expire({ node }: Store): Promise<void> {
    await runSql(
      database.url,
      `update holdfast.node set expires_at = expires_at - ${LEASE_MS} - 1 where id = '${node}'`,
    );
  }

  async function rowOf(node: string) {
    const [row] = await runSql(
      database.url,
      `select dead_at is not null as dead, expires_at - floor(extract(epoch from clock_timestamp()) * 1000) as left_ms
        from holdfast.node where id = '${node}'`,
    );
    return row === undefined ? null : { dead: row.dead, leftMs: Number(row.left_ms) };
  }

  test('lives as long as its lease is renewed in time', async () => {
    const { node } = one;

    expect(await clusterOf(two).buryDead()).toBe(0);
    expect(await clusterOf(one).renew()).toEqual({ node, held: [] });

    const { dead, leftMs = 0 } = (await rowOf(node)) ?? {};
    expect(dead).toBe(false);
    expect(leftMs).toBeGreaterThan(LEASE_MS - 5_000);
    expect(leftMs).toBeLessThanOrEqual(LEASE_MS);
  });

  test('goes on under its name if it was late and nobody has noticed', async () => {
    const { node } = one;
    await expire(one);

    expect(await clusterOf(one).renew()).toMatchObject({ node });

    expect(await clusterOf(two).buryDead()).toBe(0);
  });

  test('is dead once it was late and another has noticed, and begins anew under another name', async () => {
    const { node } = one;
    await expire(one);

    expect(await clusterOf(two).buryDead()).toBe(1);
    expect(await clusterOf(two).buryDead()).toBe(0);
    const renewed = await clusterOf(one).renew();

    expect(renewed).toEqual({ node: one.node, held: [] });
    expect(one.node).not.toBe(node);
    expect(await rowOf(node)).toMatchObject({ dead: true });
    expect(await rowOf(one.node)).toMatchObject({ dead: false });
    expect(await clusterOf(one).renew()).toEqual({ node: one.node, held: [] });
  });

  test('is buried by one of those who notice at once', async () => {
    await expire(one);

    const buried = await Promise.all(Array.from({ length: 8 }, () => clusterOf(two).buryDead()));

    expect(buried.reduce((sum, count) => sum + count, 0)).toBe(1);
  });

  test('is told which tasks are held under its name', async () => {
    const [ann, ben] = [new Owner(one), new Owner(two)];
    const first = await ann.start();
    const second = await ann.start();
    await ben.start();
    await ann.cancel(second.id);

    const { held } = await clusterOf(one).renew();

    expect(held).toHaveLength(2);
    expect(held).toEqual(expect.arrayContaining([heldTask(first), heldTask(await ann.task(second.id))]));
    await ann.finish(first);
    await ann.release(second);
    expect(await clusterOf(one).renew()).toMatchObject({ held: [] });
  });

  test('claims nothing once it is dead, until it has another name', async () => {
    const ann = new Owner(one);
    const { id } = await ann.create();
    await expire(one);
    await clusterOf(two).buryDead();

    await expect(ann.claim(id)).rejects.toThrow();
    await clusterOf(one).renew();

    expect((await ann.claim(id)).node).toBe(one.node);
  });

  test('leaves what it held to the others when it is dead, not when it is late', async () => {
    const ann = new Owner(one);
    const running = await ann.start();
    await new Owner(two).start();
    await expire(one);

    expect(await two.orphans(10)).toEqual([]);
    await clusterOf(two).buryDead();

    expect(await two.orphans(10)).toEqual([heldTask(running)]);
    expect(await two.newestSuspects(10)).toEqual([]);
    await new Owner(two, ann.name).requeue(running, 'crashed');
    expect(await two.orphans(10)).toEqual([]);
  });

  test('leaves it at once when it closes, or when its row is gone', async () => {
    const running = await new Owner(one).start();
    const other = await new Owner(two).start();

    await one.close();
    expect(await two.orphans(10)).toEqual([heldTask(running)]);

    one = await open();
    await runSql(database.url, `delete from holdfast.node where id = '${two.node}'`);
    expect(await one.orphans(10)).toEqual(expect.arrayContaining([heldTask(running), heldTask(other)]));
    expect(await clusterOf(two).renew()).toEqual({ node: two.node, held: [] });
    expect(two.node).not.toBe(other.node);
  });

  test('shows the running suspects of dead nodes, the one that began last first', async () => {
    const ann = new Owner(one);
    const ids = [(await ann.create()).id, (await ann.create()).id];
    for (const id of ids) await ann.crashTwice(id);
    const first = await ann.claim(ids[1] ?? '');
    await ann.later(first.runningSince ?? 0);
    const second = await ann.claim(ids[0] ?? '');
    expect(await two.newestSuspects(2)).toEqual([]);

    await one.close();

    expect(await two.newestSuspects(2)).toEqual([heldTask(second), heldTask(first)]);
    expect(await two.newestSuspects(1)).toEqual([heldTask(second)]);
    one = await open();
  });

  test('describes its agents as long as it lives, and again under another name', async () => {
    const [old, newer] = [agent('planner', '1'), agent('planner', '2')];
    await one.describeAgents([old, agent('Writer', '1')]);
    await vi.waitFor(async () => expect(await two.agents()).toEqual([agent('Writer', '1'), old]));
    await two.describeAgents([newer, agent('étude', '1')]);

    expect(await one.agents()).toEqual([agent('Writer', '1'), newer, agent('étude', '1')]);
    await expire(two);
    await clusterOf(one).buryDead();
    expect(await one.agents()).toEqual([agent('Writer', '1'), old]);
    await clusterOf(two).renew();
    expect(await one.agents()).toEqual([agent('Writer', '1'), newer, agent('étude', '1')]);
    await one.describeAgents([]);
    expect(await one.agents()).toEqual([newer, agent('étude', '1')]);
  });

  test('is forgotten a day after its death, unless a task still names it', async () => {
    const ann = new Owner(one);
    const running = await ann.start();
    const { node } = one;
    await one.close();
    one = await open();
    await runSql(
      database.url,
      `update holdfast.node set dead_at = dead_at - 25 * 60 * 60 * 1000 where dead_at is not null`,
    );

    await clusterOf(two).buryDead();
    expect(await rowOf(node)).toMatchObject({ dead: true });
    await new Owner(two, ann.name).requeue(running, 'crashed');
    await clusterOf(two).buryDead();

    expect(await rowOf(node)).toBeNull();
  });

  test('knows what time it is for the database', async () => {
    const [row] = await runSql(database.url, 'select extract(epoch from clock_timestamp()) * 1000 as now');

    expect(Math.abs(one.now() - Number(row?.now))).toBeLessThan(1_000);
    expect(Number.isInteger(one.now())).toBe(true);
  });
});

function clusterOf({ cluster }: Store): Cluster {
  if (cluster === null) throw new Error('Here is no cluster.');
  return cluster;
}

function heldTask({ owner, id: taskId, fence, status, runningSince }: TaskRecord): HeldTask {
  return { owner, taskId, fence, status, runningSince };
}

function agent(name: string, version: string): AgentDescription {
  return { name, version, description: `It is ${name}.\0`, inputSchema: { type: 'object' } };
}
