import { afterEach, beforeEach, describe, test } from 'vitest';
import { cursorsOf, expectVerdicts, NONE, play, without } from '../protocol/cursor-verdicts.ts';
import { createStreamClient, EVERYTHING, STREAM_AGENTS, type StreamClient } from '../protocol/stream-client.ts';
import { findPostgresPrograms } from '../support/postgres-binaries.ts';
import { type PostgresCluster, startPostgresCluster } from '../support/postgres-cluster.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { openSocketReader } from '../support/socket-reader.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { startNode, until } from './node-crew.ts';

const BACK_MS = 20_000;
const DATABASE = 'holdfast';

/** docs/decisions/001-one-log-per-owner.md: which cursors are good where a database has lost something. */
describe.skipIf(findPostgresPrograms() === null)('A node whose database', () => {
  let cluster: PostgresCluster;
  let proxy: TcpProxy;
  beforeEach(async () => {
    cluster = await startPostgresCluster();
    await cluster.createDatabase(DATABASE);
    proxy = await openTcpProxy([cluster.port]);
  });
  afterEach(async () => {
    await proxy.close();
    await cluster.remove();
  });

  async function start(): Promise<{ server: ServerProcess; client: StreamClient }> {
    const { server } = await startNode(`postgres://postgres@127.0.0.1:${proxy.port}/${DATABASE}`, {
      agents: STREAM_AGENTS,
      // What it waits for here is not its lease.
      flags: ['--lease-ms', '60000'],
    });
    return { server, client: createStreamClient(server.url) };
  }

  async function untilReady(client: StreamClient): Promise<void> {
    await until('the node is ready', BACK_MS, async () => (await client.get('/readyz')).status === 200);
  }

  test.each(['fast', 'immediate'] as const)('has restarted (%s) resets nobody', async (how) => {
    const { client } = await start();
    await play(client);
    const all = await cursorsOf(client);

    await cluster.restart(how);
    await untilReady(client);

    await expectVerdicts(client, all, NONE);
    await play(client);
    await expectVerdicts(client, await cursorsOf(client), NONE);
  });

  test('went over to a standby that lacked the last second resets exactly who had seen that, also who is still there', async () => {
    const standby = await cluster.addStandby();
    try {
      const { client } = await start();
      await play(client);
      const kept = await cursorsOf(client);
      await until('the standby has everything', BACK_MS, async () => (await lag(cluster)) === 'f');
      await standby.stopFollowing();
      await play(client);
      const lost = without(await cursorsOf(client), kept);
      const told: (string | null)[] = [];
      const stayed = openSocketReader(`${client.url}${EVERYTHING}`, {
        cursor: kept.plain.at(-1) ?? null,
        onBlock: ({ event }) => told.push(event),
      });
      let isClosed = false;
      void stayed.closed.then(() => {
        isClosed = true;
      });
      await until('a reader has seen what will be lost', BACK_MS, () => told.includes('caught-up'));

      await cluster.stop('immediate');
      await standby.promote();
      proxy.targets = [standby.port];
      proxy.cut();
      await untilReady(client);

      await expectVerdicts(client, kept, lost);
      await play(client);
      await play(client);
      const grown = await cursorsOf(client);
      await expectVerdicts(client, grown, lost);
      // Who had a connection all the while is told by it, or sent away to come back with its cursor.
      await until('who stayed is told', BACK_MS, () => isClosed || told.includes('reset'));
      stayed.destroy();
    } finally {
      await standby.remove();
    }
  });

  test('was put back from a dump while the node stood still resets exactly who had seen more', async () => {
    const { server, client } = await start();
    await play(client);
    const kept = await cursorsOf(client);
    const file = 'dump';
    await dump(cluster, file);
    await play(client);
    const lost = without(await cursorsOf(client), kept);

    process.kill(server.pid, 'SIGSTOP');
    await restore(cluster, file);
    process.kill(server.pid, 'SIGCONT');
    await untilReady(client);

    await play(client);
    await play(client);
    await expectVerdicts(client, await cursorsOf(client), lost);
    await expectVerdicts(client, kept, lost);
  });

  test('is the copy of an earlier data directory resets exactly who had seen more', async () => {
    const { client } = await start();
    await play(client);
    const kept = await cursorsOf(client);
    await cluster.copyData();
    await untilReady(client);
    await expectVerdicts(client, kept, NONE);
    await play(client);
    const lost = without(await cursorsOf(client), kept);

    await cluster.bringBackCopy();
    await untilReady(client);

    await expectVerdicts(client, kept, lost);
    await play(client);
    await play(client);
    await expectVerdicts(client, await cursorsOf(client), lost);
  });
});

/** Whether a standby lacks something: `t` or `f`. */
async function lag(cluster: PostgresCluster): Promise<string | undefined> {
  const [behind] = await cluster.sql(
    'select replay_lsn is distinct from pg_current_wal_lsn() from pg_stat_replication limit 1',
  );
  return behind;
}

async function dump(cluster: PostgresCluster, file: string): Promise<void> {
  await cluster.program('pg_dump', ['-d', DATABASE, '-Fc', '-f', file]);
}

/** Into the same database of the same cluster. */
async function restore(cluster: PostgresCluster, file: string): Promise<void> {
  await cluster.program('pg_restore', ['-d', DATABASE, '--clean', '--if-exists', file]);
}
