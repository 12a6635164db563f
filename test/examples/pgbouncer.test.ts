import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStreamClient, STREAM_AGENTS } from '../protocol/stream-client.ts';
import { findPgbouncer, type Pgbouncer, startPgbouncer } from '../support/pgbouncer.ts';
import { createTestDatabase, findPostgres, type TestDatabase } from '../support/postgres-server.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

const isThere = findPgbouncer() && (await findPostgres()) !== null;

/** The example as it stands, but for the addresses and for who may connect. */
function configuration({ url }: TestDatabase): (port: number) => string {
  const { hostname, port, username, password, pathname } = new URL(url);
  const place = `host=${hostname} port=${port === '' ? 5432 : port} dbname=${pathname.slice(1)}`;
  const database = `${place} user=${username}${password === '' ? '' : ` password=${password}`}`;
  const text = readFileSync(path.join(import.meta.dirname, '../../examples/proxies/pgbouncer.ini'), 'utf8');
  return (listenPort) =>
    text
      .replace(/^holdfast = .*$/m, `holdfast = ${database}`)
      .replace(/^listen_addr = .*$/m, 'listen_addr = 127.0.0.1')
      .replace(/^listen_port = .*$/m, `listen_port = ${listenPort}\nunix_socket_dir =`)
      .replace(/^auth_type = .*$/m, 'auth_type = any')
      .replace(/^auth_file = .*$/m, '');
}

describe.skipIf(!isThere)('docs/scaling.md, "PgBouncer"', () => {
  let database: TestDatabase;
  let pooler: Pgbouncer;
  let nodes: ServerProcess[];
  beforeAll(async () => {
    database = await createTestDatabase();
    pooler = await startPgbouncer(configuration(database));
    const pooled = `postgres://any@127.0.0.1:${pooler.port}/holdfast`;
    const flags = ['--database-listen', database.url];
    const start = () => startServerProcess({ database: pooled, agents: STREAM_AGENTS, flags });
    nodes = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await Promise.all((nodes ?? []).map((node) => node.stop()));
    await pooler?.stop();
    await database?.drop();
  });

  test('servers behind it tell each other what they write, and warn of nothing', async () => {
    const [here, there] = nodes.map(({ url }) => createStreamClient(url));
    const taskId =
      (await here?.play({ op: 'emit', count: 300 }, { op: 'ask' }, { op: 'emit', type: 'note.more' })) ?? '';
    const stream = await there?.open(taskId);

    await stream?.until(({ data }) => data?.includes('"question.asked"') ?? false);
    await there?.answerNext(taskId);
    const rest = await stream?.rest();

    expect(rest?.some(({ data }) => data?.includes('"note.more"'))).toBe(true);
    expect(nodes.map((node) => node.stderr())).toEqual(['', '']);
  });
});
