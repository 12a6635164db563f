import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { createTestDatabase, findPostgres, runSql, type TestDatabase } from '../support/postgres-server.ts';
import { cleanUp, startHoldfast } from './running-server.ts';

const isThere = (await findPostgres()) !== null;

describe.skipIf(!isThere)('holdfast check --database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await cleanUp();
    await database.drop();
  });

  async function check(url = database.url) {
    const run = startHoldfast('check', '--database', url);
    return { code: await run.exited, stdout: run.stdout, stderr: run.stderr };
  }

  test('says of an empty database that it is, and leaves it so', async () => {
    const first = await check();

    // A PostgreSQL for tests may be set up so that it need not wait for the disk.
    expect(first.stderr).toMatch(/^(error: fsync is off.*\n)?$/);
    expect(first.code).toBe(first.stderr === '' ? 0 : 1);
    expect(first.stdout).toContain('It has no tables of Holdfast yet');
    expect(await check()).toEqual(first);
  });

  test('says which servers live on it, which are gone, and what it holds', async () => {
    const gone = await openPostgresStore({ url: database.url, poolSize: 4 });
    await gone.close();
    const store = await openPostgresStore({ url: database.url, poolSize: 4 });
    await runSql(database.url, LOG_OF_ANN);

    const { stdout } = await check();
    await store.close();

    expect(stdout).toMatch(new RegExp(`^Node ${store.node} lives for \\d+ s if nothing more is heard of it\\.$`, 'm'));
    expect(stdout).toMatch(new RegExp(`^Node ${gone.node} has been gone for \\d+ s\\.$`, 'm'));
    expect(stdout).toMatch(/^Epoch [a-z0-9]{8}\.$/m);
    expect(stdout).toMatch(/^1 owners; tasks: none; 0 pending questions; about \d+ events\.$/m);
  });

  test('tells of a log whose events stand above its head, with 1', async () => {
    await runSql(database.url, EVENT_ABOVE_THE_HEAD);

    const { code, stderr } = await check();

    expect(code).toBe(1);
    expect(stderr).toContain('The log of ann has an event 5 above its head 2.');
  });

  test('says in one line that a database cannot be reached, and not its password', async () => {
    const { code, stdout, stderr } = await check('postgres://ann:secret@127.0.0.1:1/holdfast');

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: The database holdfast at 127\.0\.0\.1:1 cannot be reached[^\n]*\n$/);
    expect(stderr).not.toContain('secret');
  });
});

const LOG_OF_ANN = `
  insert into holdfast.log (owner, head, pruned_seq, epoch, claimable, turn, unfinished_roots, pending_questions, batch)
    values ('ann', 2, 0, 'abcdefgh', 0, 0, 0, 0, 0);
  insert into holdfast.log_epoch (log, epoch, first_seq) select id, 'abcdefgh', 1 from holdfast.log`;
const EVENT_ABOVE_THE_HEAD = `insert into holdfast.event (log, seq, task, root, at, type, data)
  select id, 5, 0, 0, 0, 'note.taken', '{}' from holdfast.log`;
