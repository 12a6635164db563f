import type { Database } from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { databaseFile, openConnection } from '../../src/store/sqlite/connection.ts';
import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { ANY_VERBS, createAnyVerbs } from '../support/any-verbs.ts';
import { diceOf } from '../support/dice.ts';
import { newDirectory } from '../support/store-directory.ts';
import { createArgs, Owner } from '../support/store-owner.ts';

const OWNERS = ['ann', 'ben', 'cleo'];
const COMMITS = 300;

/** What a claim may take, told anew, and counted the slow way. */
const CLAIMABLE = "t.status = 'queued' and t.blocked = 0 and t.held = 0 and t.run_at is null and t.crashes < 2";
const COUNTS = `select log.owner, claimable, (select count(*) from task t where t.log = log.id and ${CLAIMABLE}) as counted
  from log`;
/** Whether the row is what its lane lets through: the first that is ready, and that only while nobody holds one of it. */
const LANES = `select t.id, t.blocked, (
    exists (select 1 from task h where h.log = t.log and h.concurrency_key = t.concurrency_key and h.held = 1)
    or exists (select 1 from task o where o.log = t.log and o.concurrency_key = t.concurrency_key and o.status = 'queued'
      and o.run_at is null and (o.priority > t.priority or o.priority = t.priority and o.key < t.key))) as blockable
  from task t where t.status = 'queued' and t.run_at is null and t.concurrency_key is not null`;

describe('what can be claimed', () => {
  let store: Store;
  let db: Database;
  let now: number;
  beforeEach(() => {
    now = Date.UTC(2026, 10, 30);
    const dir = newDirectory();
    store = openSqliteStoreInProcess({ dir, now: () => now });
    db = openConnection(databaseFile(dir), 'read');
  });
  afterEach(async () => {
    db.close();
    await store.close();
  });

  test.each([1, 2, 3, 4])('is counted rightly for each owner, whatever happens (seed %i)', async (seed) => {
    const dice = diceOf(seed);
    const verbs = createAnyVerbs({ dice, node: store.node, now: () => now, delayMs: 1_000 });
    const seen = new Set<string>();
    for (let i = 0; i < COMMITS; i++) {
      now += dice.below(800);
      const owner = dice.pick(OWNERS);
      const tasks = await store.listTasks(owner, { limit: 100, order: 'desc' });
      const calls = Array.from({ length: 1 + dice.below(3) }, () => verbs.among(tasks)).flat();
      const { outcomes } = await store.commit(owner, calls);
      for (const [at, { verb }] of calls.entries()) {
        if (outcomes[at]?.ok) seen.add(verb);
      }

      const counts = db.prepare<[], { owner: string; claimable: number; counted: number }>(COUNTS).all();
      expect(counts.map(({ claimable }) => claimable)).toEqual(counts.map(({ counted }) => counted));
      const lanes = db.prepare<[], { blocked: number; blockable: number }>(LANES).all();
      expect(lanes.map(({ blocked }) => blocked)).toEqual(lanes.map(({ blockable }) => blockable));
      expect(await store.claimable(10_000)).toHaveLength(counts.reduce((sum, { counted }) => sum + counted, 0));
    }

    expect(ANY_VERBS.filter((verb) => !seen.has(verb))).toEqual([]);
  });

  test('comes in turns, however much one owner has queued', async () => {
    const [ann, ben] = [new Owner(store, 'ann'), new Owner(store, 'ben')];
    await store.commit(
      'ann',
      Array.from({ length: 10_000 }, () => ({ verb: 'createTask', args: createArgs() }) as const),
    );
    for (let i = 0; i < 3; i++) await ben.create();
    const served: string[] = [];

    for (let turn = 0; turn < 8; turn++) {
      const [next] = await store.claimable(1);
      served.push(next?.owner ?? '');
      await (next?.owner === 'ann' ? ann : ben).claim(next?.taskId ?? '');
    }

    expect(served).toEqual(['ann', 'ben', 'ann', 'ben', 'ann', 'ben', 'ann', 'ann']);
  });

  test('comes to all who wait before it comes to one of them again, though others come and go', async () => {
    const owners = Array.from({ length: 10 }, (_, n) => new Owner(store, `owner-${n}`));
    for (const owner of owners) for (let i = 0; i < 3; i++) await owner.create();
    const served: string[] = [];

    for (let turn = 0; served.length < 10; turn++) {
      await new Owner(store, `passing-${turn}`).create();
      const [next] = await store.claimable(1);
      await new Owner(store, next?.owner).claim(next?.taskId ?? '');
      if (next?.owner.startsWith('owner')) served.push(next.owner);
    }

    expect(new Set(served).size).toBe(10);
  });
});
