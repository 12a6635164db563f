import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findPostgresPrograms } from '../support/postgres-binaries.ts';
import { type PostgresCluster, startPostgresCluster } from '../support/postgres-cluster.ts';
import { cleanUp, startHoldfast } from './running-server.ts';

describe.skipIf(findPostgresPrograms() === null)('holdfast serve --database', () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await startPostgresCluster();
  });
  afterAll(async () => {
    await cleanUp();
    await cluster.remove();
  });

  test('prints and logs the database without its password, also when that goes', async () => {
    const database = new URL(await cluster.createDatabase('shown'));
    database.password = 'not-to-be-seen';
    const flags = ['--database', database.href, '--database-pool', '4', '--log-level', 'trace', '--workers', '2'];

    const server = startHoldfast('serve', '--port', '0', ...flags);
    const [, url = '', place] = await server.printed(/ serves (http:\S+) with the data in (\S+)\.\n/);
    await cluster.stop('fast');
    await statusOf(`${url}/readyz`, 503);
    const refused = await fetch(`${url}/v1/conversations`, { method: 'POST' });
    await cluster.start();
    await statusOf(`${url}/readyz`, 200);
    server.child.kill('SIGINT');

    expect(await server.exited).toBe(0);
    expect(place).toBe(`postgres://postgres@127.0.0.1:${cluster.port}/shown`);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(server.stdout + server.stderr).not.toContain('not-to-be-seen');
  });

  test('says in one line that there is no such database', async () => {
    const server = startHoldfast('serve', '--port', '0', '--database', cluster.url('none'));

    expect(await server.exited).toBe(1);
    expect(server.stdout).toBe('');
    expect(server.stderr).toMatch(/^error: The database none at \S+ does not exist; make it with createdb\.\n$/);
  });
});

/** Asks until it is answered so. */
async function statusOf(url: string, status: number): Promise<void> {
  while ((await fetch(url)).status !== status);
}
