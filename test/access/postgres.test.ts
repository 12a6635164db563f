import { afterAll, describe } from 'vitest';
import { openPostgresAccess } from '../../src/store/postgres/access/open.ts';
import { createTestDatabase, findPostgres, type TestDatabase } from '../support/postgres-server.ts';
import { type AccessEngine, testAccessStore } from './access-store.suite.ts';
import { testGrants } from './grants.suite.ts';

const postgres = await findPostgres();

describe.skipIf(postgres === null)('PostgreSQL', () => {
  const databases = new Map<string, Promise<TestDatabase>>();
  afterAll(async () => {
    for (const database of databases.values()) await (await database).drop();
  });

  const engine: AccessEngine = {
    name: 'PostgreSQL',
    async open(dir = `${databases.size}`) {
      const database = databases.get(dir) ?? createTestDatabase();
      databases.set(dir, database);
      return openPostgresAccess({ url: (await database).url });
    },
  };

  testAccessStore(engine);
  testGrants(engine);
});
