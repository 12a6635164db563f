import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { findPostgresPrograms } from '../../support/postgres-binaries.ts';
import { type PostgresCluster, startPostgresCluster } from '../../support/postgres-cluster.ts';
import { createArgs } from '../../support/store-owner.ts';

const MAKE_CERTIFICATE = `openssl req -new -x509 -days 2 -nodes -subj /CN=localhost
  -out server.crt -keyout server.key 2>/dev/null && chmod 600 server.key`;

describe.skipIf(findPostgresPrograms() === null)('a PostgreSQL behind TLS', () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await startPostgresCluster();
    // Its own user makes it, in the directory of its data.
    await cluster.sql(`copy (select) to program '${MAKE_CERTIFICATE.replaceAll('\n', ' ')}'`);
    await cluster.sql('alter system set ssl = on');
    await cluster.restart('fast');
    await cluster.sql(`create role plain login password 'p@ss'`);
    await cluster.sql('create database plain owner plain');
  });
  afterAll(() => cluster.remove());

  // Would fail if a connection that is closed by this side ended the process.
  test('is used so by a user of no special rights, through all that a store does, and let go of', async () => {
    const url = `postgres://plain:p%40ss@127.0.0.1:${cluster.port}/plain?sslmode=require`;

    const store = await openPostgresStore({ url, poolSize: 4 });
    const { outcomes } = await store.commit('ann', [{ verb: 'createTask', args: createArgs() }]);
    const encrypted = await cluster.sql(
      `select bool_and(ssl) from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'plain'`,
    );
    await store.close();

    expect(outcomes[0]).toMatchObject({ ok: true });
    expect(encrypted).toEqual(['t']);
  });

  test('is refused where its certificate is to be known and is not', async () => {
    const url = `postgres://plain:p%40ss@127.0.0.1:${cluster.port}/plain?sslmode=verify-full`;

    await expect(openPostgresStore({ url })).rejects.toThrow(
      /^The database plain at \S+ has no certificate that is trusted here: self-signed certificate\.$/,
    );
  });
});
