import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TaskStatus } from '../../src/model/task.ts';
import type { Cluster } from '../../src/store/cluster.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import type { Store } from '../../src/store/store.ts';
import { diceOf } from '../support/dice.ts';
import { createTestDatabase, findPostgres, runSql, type TestDatabase } from '../support/postgres-server.ts';
import { Owner } from '../support/store-owner.ts';

/** `HOLDFAST_ROUNDS=10000` for many. */
const ROUNDS = Number(process.env.HOLDFAST_ROUNDS ?? 300);
const AT_ONCE = 10;
const RACE_MS = 60_000 + ROUNDS * 50;

const dice = diceOf(1);
const postgres = await findPostgres();

/** docs/decisions/010-load-decide-write.md: whoever writes for an owner has the owner's lock first. */
describe.skipIf(postgres === null)('Two nodes that decide about the same task at once', () => {
  let database: TestDatabase;
  let left: Store;
  let right: Store;
  let over = false;
  let renewing: Promise<unknown>;
  let renewals = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    const open = () => openPostgresStore({ url: database.url, poolSize: AT_ONCE });
    left = await open();
    right = await open();
    renewing = Promise.all([left, right].map(renew));
  });
  // Written down when a connection ends.
  afterAll(async () => {
    over = true;
    await renewing;
    await Promise.all([left.close(), right.close()]);
    const [row] = await runSql(
      database.url,
      `select deadlocks from pg_stat_database where datname = '${database.name}'`,
    );
    await database.drop();
    expect(row).toEqual({ deadlocks: '0' });
    expect(renewals).toBeGreaterThan(10);
  });

  /** Beside everything else, all the time. */
  async function renew(store: Store): Promise<void> {
    const cluster = store.cluster as Cluster;
    while (!over) {
      const { node } = await cluster.renew();
      expect(node).toBe(store.node);
      expect(await cluster.buryDead()).toBe(0);
      renewals += 1;
    }
  }

  async function play(round: (owner: Owner, other: Owner) => Promise<void>): Promise<void> {
    for (let played = 0; played < ROUNDS; played += AT_ONCE) {
      const rounds = Array.from({ length: AT_ONCE }, async () => {
        const owner = new Owner(left);
        await round(owner, new Owner(right, owner.name));
      });
      await Promise.all(rounds);
    }
  }

  /** Else the same one would always be first. */
  async function mayBeLate(): Promise<void> {
    await pause(dice.below(10));
  }

  test('claims and cancels: it is cancelled, whoever was first', { timeout: RACE_MS }, async () => {
    const claimed = { first: 0, not: 0 };

    await play(async (owner, other) => {
      const { id } = await owner.create();
      const [claim] = await Promise.allSettled([owner.claim(id), mayBeLate().then(() => other.cancel(id))]);
      if (claim.status === 'fulfilled') claimed.first += 1;
      else claimed.not += 1;

      expect((await other.task(id)).status).toBe('cancelled');
      if (claim.status === 'rejected') expect(String(claim.reason)).toContain('not_claimable');
    });

    expect(claimed.first + claimed.not).toBeGreaterThanOrEqual(ROUNDS);
    expect(Math.min(claimed.first, claimed.not)).toBeGreaterThan(0);
  });

  test('both claim: one has it', { timeout: RACE_MS }, async () => {
    await play(async (owner, other) => {
      const { id } = await owner.create();
      const claims = await Promise.allSettled([owner.claim(id), other.claim(id)]);

      expect(claims.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      const { node, fence } = await owner.task(id);
      expect({ node, fence }).toEqual({ node: claims[0].status === 'fulfilled' ? left.node : right.node, fence: 1 });
    });
  });

  test('a child ends and its parent is cancelled: each has one end, the parent the later one', {
    timeout: RACE_MS,
  }, async () => {
    const ends = new Set<TaskStatus>();

    await play(async (owner, other) => {
      const parent = await owner.start();
      const child = await owner.claim((await owner.spawn(parent, 'child')).id);
      await Promise.allSettled([owner.finish(child), mayBeLate().then(() => other.cancel(parent.id))]);

      const { events } = await other.read();
      const terminal = events.filter(({ type }) => /^task\.(completed|cancelled)$/.test(type));
      expect(terminal.map(({ taskId }) => taskId)).toEqual([child.id, parent.id]);
      ends.add((await other.task(child.id)).status);
    });

    expect(ends).toEqual(new Set<TaskStatus>(['completed', 'cancelled']));
  });

  test('both answer: the first wins, and the other is told by whom', { timeout: RACE_MS }, async () => {
    await play(async (owner, other) => {
      const task = await owner.start();
      const { id } = await owner.ask(task, 'month');
      await owner.wait(task, ['month']);
      const answers = await Promise.all([owner.answer(id), other.answer(id)]);

      expect(answers.every((answer) => answer?.ok)).toBe(true);
      const { events } = await other.read();
      expect(events.filter(({ type }) => type === 'question.answered')).toHaveLength(1);
      expect(events.filter(({ type }) => type === 'task.resumed')).toHaveLength(1);
    });
  });
});
