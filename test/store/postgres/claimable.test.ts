import library from 'postgres';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { ANY_VERBS, createAnyVerbs } from '../../support/any-verbs.ts';
import { diceOf } from '../../support/dice.ts';
import { createTestDatabase, findPostgres, runSql, type TestDatabase } from '../../support/postgres-server.ts';
import { createArgs, Owner } from '../../support/store-owner.ts';

const postgres = await findPostgres();

/** What a claim may take, told anew, and counted the slow way. */
const CLAIMABLE = "t.status = 'queued' and not t.blocked and not t.held and t.run_at is null and t.crashes < 2";
const COUNTS = `select claimable, (select count(*)::int from holdfast.task t where t.log = log.id and ${CLAIMABLE}) as counted
  from holdfast.log`;
/** Whether the row is what its lane lets through: the first that is ready, and that only while nobody holds one of it. */
const LANES = `select t.blocked, (
    exists (select 1 from holdfast.task h where h.log = t.log and h.concurrency_key = t.concurrency_key and h.held)
    or exists (select 1 from holdfast.task o where o.log = t.log and o.concurrency_key = t.concurrency_key
      and o.status = 'queued' and o.run_at is null and (o.priority > t.priority or o.priority = t.priority and o.key < t.key))
  ) as blockable from holdfast.task t where t.status = 'queued' and t.run_at is null and t.concurrency_key is not null`;

describe.skipIf(postgres === null)('What can be claimed', () => {
  let database: TestDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await createTestDatabase();
    store = await openPostgresStore({ url: database.url, poolSize: 2 });
  });
  afterEach(() => runSql(database.url, 'truncate holdfast.log cascade'));
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  test('is counted rightly for each owner, whatever happens', async () => {
    const sql = library(database.url, { max: 1 });
    const dice = diceOf(1);
    const verbs = createAnyVerbs({ dice, node: store.node, now: store.now, delayMs: 40 });
    const seen = new Set<string>();
    for (let i = 0; i < 250; i++) {
      const owner = dice.pick(['ann', 'ben', 'cleo']);
      const tasks = await store.listTasks(owner, { limit: 100, order: 'desc' });
      const calls = Array.from({ length: 1 + dice.below(3) }, () => verbs.among(tasks)).flat();
      const { outcomes } = await store.commit(owner, calls);
      for (const [at, { verb }] of calls.entries()) {
        if (outcomes[at]?.ok) seen.add(verb);
      }

      const counts = await sql.unsafe(COUNTS);
      expect(counts.map(({ claimable }) => claimable)).toEqual(counts.map(({ counted }) => counted));
      const lanes = await sql.unsafe(LANES);
      expect(lanes.map(({ blocked }) => blocked)).toEqual(lanes.map(({ blockable }) => blockable));
      expect(await store.claimable(1_000)).toHaveLength(counts.reduce((sum, { counted }) => sum + counted, 0));
    }
    await sql.end();

    expect(ANY_VERBS.filter((verb) => !seen.has(verb))).toEqual([]);
  });

  test('comes in turns, however much one owner has queued', async () => {
    const [ann, ben] = [new Owner(store), new Owner(store)];
    const calls = Array.from({ length: 500 }, () => ({ verb: 'createTask', args: createArgs() }) as const);
    await store.commit(ann.name, calls);
    for (let i = 0; i < 3; i++) await ben.create();
    const served: string[] = [];

    for (let turn = 0; turn < 8; turn++) {
      const [next] = await store.claimable(1);
      served.push(next?.owner ?? '');
      await (next?.owner === ann.name ? ann : ben).claim(next?.taskId ?? '');
    }

    expect(served.map((owner) => (owner === ann.name ? 'ann' : 'ben'))).toEqual([
      'ann',
      'ben',
      'ann',
      'ben',
      'ann',
      'ben',
      'ann',
      'ann',
    ]);
  });

  test('comes to all who wait before it comes to one of them again, though others come and go', async () => {
    const owners = Array.from({ length: 8 }, () => new Owner(store));
    for (const owner of owners) for (let i = 0; i < 2; i++) await owner.create();
    const served: string[] = [];

    for (let turn = 0; served.length < owners.length; turn++) {
      await new Owner(store, `passing-${turn}`).create();
      const [next] = await store.claimable(1);
      await new Owner(store, next?.owner).claim(next?.taskId ?? '');
      if (!next?.owner.startsWith('passing')) served.push(next?.owner ?? '');
    }

    expect(new Set(served).size).toBe(owners.length);
  });

  test('is the first of each owner, then the second, and more of each where there are few', async () => {
    const [ann, ben] = [new Owner(store), new Owner(store)];
    const low = await ann.create({ priority: -1 });
    const first = await ann.create();
    const second = await ann.create();
    const high = await ann.create({ priority: 1 });
    const [one, two] = [await ben.create(), await ben.create()];

    const ids = async (limit: number) => (await store.claimable(limit)).map(({ taskId }) => taskId);

    expect(await ids(10)).toEqual([high, one, first, two, second, low].map(({ id }) => id));
    expect(await ids(3)).toEqual([high, one, first].map(({ id }) => id));
    expect(await ids(1)).toEqual([high.id]);
    expect(await ids(0)).toEqual([]);
  });

  test('passes over owners who are full, and those who have nothing for these agents, and leaves them their turns', async () => {
    const [ann, ben, cleo] = [new Owner(store, 'ann\0'), new Owner(store), new Owner(store)];
    const writing = await ann.create({ agent: 'writer' });
    const drawing = await ben.create({ agent: 'painter' });
    const other = await ben.create({ agent: 'writer' });
    const last = await cleo.create({ agent: 'writer' });
    const claimable = async (full: string[], agents: string[] | null) =>
      (await store.claimable(10, new Set(full), agents)).map(({ taskId }) => taskId);

    expect(await claimable([], ['writer'])).toEqual([writing.id, other.id, last.id]);
    expect(await claimable([ann.name, cleo.name], ['writer', 'painter'])).toEqual([drawing.id, other.id]);
    expect(await claimable([], ['painter'])).toEqual([drawing.id]);
    expect(await claimable([], ['nobody'])).toEqual([]);
    expect(await claimable([], [])).toEqual([]);
    expect(await claimable([ben.name], null)).toEqual([writing.id, last.id]);
    const counts = await runSql(database.url, 'select claimable from holdfast.log order by id');
    expect(counts.map((row) => row.claimable)).toEqual([1, 2, 1]);
    expect(await store.claimable(1, new Set(), ['writer'])).toEqual([
      { owner: ann.name, taskId: writing.id, agent: 'writer' },
    ]);
  });

  test('is claimed once, whoever of several goes for it', async () => {
    const two = await openPostgresStore({ url: database.url, poolSize: 2 });
    const ann = new Owner(store);
    const ids = await Promise.all(Array.from({ length: 10 }, async () => (await ann.create()).id));

    const outcomes = await Promise.all(
      [store, two].flatMap((node) =>
        ids.map(async (taskId) => {
          const args = { taskId, version: '1', warm: false, node: node.node };
          return (await node.commit(ann.name, [{ verb: 'claimTask', args }])).outcomes[0].ok;
        }),
      ),
    );
    await two.close();

    expect(outcomes.filter((ok) => ok)).toHaveLength(10);
    expect(await store.claimable(10)).toEqual([]);
  });
});
