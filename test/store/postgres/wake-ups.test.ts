import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createOpenLink } from '../../../src/store/postgres/connection.ts';
import { createLinks, type Links } from '../../../src/store/postgres/links.ts';
import { createOwnerMarks, type OwnerMarks } from '../../../src/store/postgres/owner-marks.ts';
import { loadPostgres } from '../../../src/store/postgres/postgres-module.ts';
import { statement } from '../../../src/store/postgres/statement.ts';
import { startWakeUps, type WakeUps } from '../../../src/store/postgres/wake-ups.ts';
import { createTestDatabase, findPostgres, runSql, type TestDatabase } from '../../support/postgres-server.ts';

/** What one process has of wake-ups, and what it was told. */
interface Node extends WakeUps {
  marks: OwnerMarks;
  links: Links;
  /** Owners, sorted; null for all. */
  told: (string[] | null)[];
  troubles: string[];
}

const postgres = await findPostgres();
/** Which connections listen, of those of the database that is asked. */
const LISTENERS = `select pid from pg_stat_activity where datname = current_database() and query = 'listen holdfast'`;

describe.skipIf(postgres === null)('A wake-up', () => {
  let database: TestDatabase;
  const nodes: Node[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    for (const node of nodes.splice(0)) {
      await node.stop();
      await node.links.end();
    }
  });
  afterAll(() => database.drop());

  /** @param deaf whether nothing that is sent reaches it, as behind a pooler that knows transactions alone */
  async function start({ deaf = false, echoMs = 5_000 } = {}): Promise<Node> {
    const library = await loadPostgres();
    const options = { url: database.url, statementTimeoutMs: 5_000 };
    const links = createLinks(createOpenLink(library, options), 1);
    const marks = createOwnerMarks();
    const told: Node['told'] = [];
    const troubles: string[] = [];
    const wakeUps = startWakeUps({
      links,
      open: (onNotify) => createOpenLink(library, deaf ? options : { ...options, onNotify })(),
      marks,
      onForeign: (owners) => told.push(owners === null ? null : [...owners].sort()),
      onTrouble: ({ message }) => troubles.push(message),
      times: { probeMs: 50, echoMs },
    });
    const node = Object.assign(wakeUps, { marks, links, told, troubles });
    nodes.push(node);
    await vi.waitFor(() => expect(told).toEqual([null]));
    told.splice(0);
    return node;
  }

  test('names the owners that its reader knows, and does not come to its sender', async () => {
    const [here, there] = [await start(), await start()];
    there.marks.of('ann');
    there.marks.of('ben');

    for (const owner of ['ben', 'cleo', 'ann', 'ben']) here.committed(owner);

    await vi.waitFor(() => expect(there.told).toEqual([['ann', 'ben']]));
    there.committed('cleo');
    await vi.waitFor(() => expect(here.told).toEqual([['cleo']]));
    expect([here.failures, there.failures]).toEqual([0, 0]);
  });

  test('says that somebody has committed, though nobody there knows who', async () => {
    const [here, there] = [await start(), await start()];

    here.committed('ann');

    await vi.waitFor(() => expect(there.told).toEqual([[]]));
  });

  test('names all where there are too many to name', async () => {
    const [here, there] = [await start(), await start()];

    for (let n = 0; n < 1_000; n += 1) here.committed(`owner-${n}`);

    await vi.waitFor(() => expect(there.told).toEqual([null]));
  });

  test('carries as many owners as PostgreSQL lets it', async () => {
    const [here, there] = [await start(), await start()];
    const owners = Array.from({ length: 650 }, (_, n) => `owner-${n}`).sort();
    for (const owner of owners) there.marks.of(owner);

    for (const owner of owners) here.committed(owner);

    await vi.waitFor(() => expect(there.told).toEqual([owners]));
  });

  test('is sent for what has gathered when its node stops', async () => {
    const [here, there] = [await start(), await start()];
    there.marks.of('ann');

    here.committed('ann');
    await here.stop();

    await vi.waitFor(() => expect(there.told).toEqual([['ann']]));
  });

  test('may have been missed while a connection was lost, which is made again', async () => {
    const [here, there] = [await start(), await start()];
    there.marks.of('ann');
    const [listener] = await runSql(database.url, `${LISTENERS} order by backend_start desc limit 1`);

    await runSql(database.url, `select pg_terminate_backend(${listener?.pid})`);

    await vi.waitFor(() => expect(there.told).toEqual([null]));
    here.committed('ann');
    await vi.waitFor(() => expect(there.told).toEqual([null, ['ann']]));
    expect(there.troubles).toEqual([]);
  });

  test('is known not to come where nothing that is sent is heard, which is said once', async () => {
    const node = await start({ deaf: true, echoMs: 50 });

    await vi.waitFor(() => expect(node.troubles).toEqual([expect.stringContaining('nothing is heard')]));
  });

  test('is lost with the connection that should have sent it, and is counted', async () => {
    const node = await start();
    const broken = node.links.use((link) => link.ask(statement('select pg_terminate_backend(pg_backend_pid())')));
    await expect(broken).rejects.toThrow();
    await node.links.end();

    node.committed('ann');

    await vi.waitFor(() => expect(node.failures).toBe(1));
  });
});
