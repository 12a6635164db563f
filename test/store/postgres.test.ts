import { afterAll, describe } from 'vitest';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { createTestDatabase, findPostgres, type TestDatabase } from '../support/postgres-server.ts';
import { testStore } from './store.suite.ts';

/** Words in the order of a language, where the server can: nothing that is ordered may hang on it. */
const COLLATION = `template template0 locale_provider icu icu_locale 'en-US'`;

const postgres = await findPostgres();

describe.skipIf(postgres === null)('PostgreSQL', () => {
  const databases = new Map<string, Promise<TestDatabase>>();
  afterAll(async () => {
    for (const database of databases.values()) await (await database).drop();
  });

  function databaseOf(dir: string): Promise<TestDatabase> {
    const known = databases.get(dir) ?? createTestDatabase(COLLATION).catch(() => createTestDatabase());
    databases.set(dir, known);
    return known;
  }

  testStore({
    name: 'PostgreSQL',
    async open({ dir = `${databases.size}` } = {}) {
      return openPostgresStore({ url: (await databaseOf(dir)).url, poolSize: 4 });
    },
    hasClock: false,
  });
});
