import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import type { Store } from '../../src/store/store.ts';
import { createTestDatabase, findPostgres, runSql, type TestDatabase } from '../support/postgres-server.ts';
import { noteEvents, Owner } from '../support/store-owner.ts';

const HELD_MS = 2000;
const OTHERS = 4;

const postgres = await findPostgres();

/** docs/decisions/001-one-log-per-owner.md */
describe.skipIf(postgres === null)('A transaction that takes long to commit', () => {
  let database: TestDatabase;
  let left: Store;
  let right: Store;

  beforeAll(async () => {
    database = await createTestDatabase();
    left = await openPostgresStore({ url: database.url, poolSize: 4 });
    right = await openPostgresStore({ url: database.url, poolSize: 4 });
    // With everything written and nothing committed, where an event says so.
    await runSql(
      database.url,
      `create function hold() returns trigger language plpgsql as
         'begin perform pg_sleep(${HELD_MS / 1000}); return null; end';
       create constraint trigger hold after insert on holdfast.event deferrable initially deferred
         for each row when (new.type = 'note.held') execute function hold();`,
    );
  });
  afterAll(async () => {
    await Promise.all([left.close(), right.close()]);
    await database.drop();
  });

  test('lets no reader skip what it holds, nor other owners wait', async () => {
    const ann = new Owner(left);
    const task = await ann.start();
    const [other] = noteEvents(task.id, 1);
    const seen: number[] = [];
    let isOver = false;
    const reading = read(new Owner(right, ann.name));

    const begun = performance.now();
    const held = ann.append(task, [{ ...other, type: 'note.held' } as NonNullable<typeof other>]);
    // Of another node, for the same owner: behind it.
    const behind = new Owner(right, ann.name).create().then(() => performance.now() - begun);
    // Of the same node, for others.
    const besides = await Promise.all(
      Array.from({ length: OTHERS }, async () => {
        const ben = new Owner(right);
        await ben.append(await ben.start());
        return performance.now() - begun;
      }),
    );
    const heldMs = await held.then(() => performance.now() - begun);
    const behindMs = await behind;
    const head = (await right.log(ann.name)).head;
    isOver = true;
    await reading;

    expect(Math.max(...besides)).toBeLessThan(heldMs);
    expect(behindMs).toBeGreaterThan(HELD_MS);
    expect(seen).toEqual(Array.from({ length: head }, (_, n) => n + 1));

    /** As every reader does: behind what it has seen. */
    async function read(owner: Owner): Promise<void> {
      for (;;) {
        const isLast = isOver;
        seen.push(...(await owner.seqs({ after: seen.at(-1) ?? 0 })));
        if (isLast) return;
      }
    }
  });
});
