import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asStoreError } from '../../../src/store/postgres/failure.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { type Store, StoreError } from '../../../src/store/store.ts';
import { createTestDatabase, findPostgres, runSql, type TestDatabase } from '../../support/postgres-server.ts';
import { noteEvents, Owner } from '../../support/store-owner.ts';

const server = await findPostgres();

/** By what an event is known that a server in trouble does not write. */
const DATA = '"trouble"';

describe.skipIf(server === null)('A server that refuses a commit', () => {
  let database: TestDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await createTestDatabase();
    store = await openPostgresStore({ url: database.url });
    await runSql(database.url, 'create sequence refused');
  });
  afterAll(async () => {
    await store?.close();
    await database?.drop();
  });

  test('for want of space has all fail that wait behind it, and then goes on', async () => {
    const owner = new Owner(store);
    const task = await owner.start();
    await refuse('53100');

    const codes = await Promise.all([
      codeOf(
        owner.append(
          task,
          noteEvents(task.id, 1, () => DATA),
        ),
      ),
      ...Array.from({ length: 60 }, () => codeOf(owner.create())),
    ]);
    await accept();

    expect(new Set(codes)).toEqual(new Set(['storage_full']));
    await owner.create();
    expect(await owner.seqs()).toEqual([1, 2, 3]);
  });

  test('because of others that are in its way is asked again, and nobody notices', async () => {
    const owner = new Owner(store);
    const task = await owner.start();
    await refuse('40P01', 2);

    const { events } = await owner.append(
      task,
      noteEvents(task.id, 1, () => DATA),
    );

    expect(events.map(({ seq }) => seq)).toEqual([3]);
    await accept();
  });

  test('because of others again and again cannot be reached', async () => {
    const owner = new Owner(store);
    const task = await owner.start();
    await refuse('40001');

    expect(
      await codeOf(
        owner.append(
          task,
          noteEvents(task.id, 1, () => DATA),
        ),
      ),
    ).toBe('storage_unavailable');
    await accept();
    expect(await owner.seqs()).toEqual([1, 2]);
  });

  test('for what it does fails it alone, of all that it shared a transaction with', async () => {
    const owner = new Owner(store);
    const [one, other] = [await owner.start(), await owner.start()];
    await refuse('23514');

    const [failed, ...rest] = await Promise.all([
      codeOf(
        owner.append(
          one,
          noteEvents(one.id, 1, () => DATA),
        ),
      ),
      ...Array.from({ length: 5 }, () => codeOf(owner.append(other))),
    ]);
    await accept();

    expect(failed).toBe('23514');
    expect(rest).toEqual([null, null, null, null, null]);
    expect(await owner.seqs()).toEqual(Array.from({ length: 9 }, (_, n) => n + 1));
  });

  /** @param times after so many it lets everything pass */
  async function refuse(code: string, times = 1_000): Promise<void> {
    await runSql(database.url, `alter sequence refused restart`);
    await runSql(
      database.url,
      `create or replace function refuse() returns trigger language plpgsql as $$ begin
        if new.data = '${DATA}' and nextval('refused') <= ${times} then
          raise exception 'No.' using errcode = '${code}';
        end if;
        return new;
      end $$`,
    );
    await runSql(
      database.url,
      'create trigger refuse before insert on holdfast.event for each row execute function refuse()',
    );
  }

  async function accept(): Promise<void> {
    await runSql(database.url, 'drop trigger refuse on holdfast.event');
  }
});

describe('An error of the database', () => {
  test.each([
    ['storage_full', ['53100']],
    ['storage_failed', ['XX001', 'XX002']],
    [
      'storage_unavailable',
      [
        '08006',
        '57P01',
        '57P03',
        '57014',
        '53300',
        '25006',
        '25P03',
        '40001',
        '40P01',
        '55P03',
        'ECONNREFUSED',
        'CONNECTION_CLOSED',
      ],
    ],
  ])('is %s when it says so', (code, states) => {
    for (const state of states) {
      const error = asStoreError(Object.assign(new Error('No.'), { code: state }));
      expect(error, state).toBeInstanceOf(StoreError);
      expect(error, state).toMatchObject({ code });
    }
  });

  test('stays what it is when it says nothing of the database', () => {
    const error = Object.assign(new Error('No.'), { code: '23505' });
    expect(asStoreError(error)).toBe(error);
  });
});

/** Null for one that goes well. */
async function codeOf(doing: Promise<unknown>): Promise<unknown> {
  try {
    await doing;
    return null;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}
