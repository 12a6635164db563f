import { rmSync } from 'node:fs';
import { createTestDatabase, type TestDatabase } from './postgres-server.ts';

/** Where servers of tests keep their data: `HOLDFAST_TEST_ENGINE=postgres` runs the same tests on PostgreSQL. */
export const isOnPostgres = process.env.HOLDFAST_TEST_ENGINE === 'postgres';

/** How long a server counts as living that is not heard of: a killed one no longer, and a busy machine's as long. */
export const LEASE_MS = 3000;

/** Many servers share one PostgreSQL. */
const FLAGS = ['--database-pool', '6', '--lease-ms', `${LEASE_MS}`];

const databases = new Map<string, Promise<TestDatabase>>();
// Other programs that start servers have an end of their own.
if (isOnPostgres && process.env.VITEST !== undefined) {
  const { afterAll } = await import('vitest');
  afterAll(() => Promise.all([...databases.keys()].map(dropStorage)));
}

/**
 * The flags by which `serve` keeps its data in a directory: on PostgreSQL in a database in its place, the same one for the
 * same directory.
 */
export async function storageFlags(dataDir: string): Promise<string[]> {
  if (!isOnPostgres) return ['--data', dataDir];
  const database = databases.get(dataDir) ?? createTestDatabase();
  databases.set(dataDir, database);
  return databaseFlags((await database).url);
}

/** The flags by which `serve` keeps its data in this database. */
export function databaseFlags(url: string): string[] {
  return ['--database', url, ...FLAGS];
}

/** Takes away what a server without any has left. */
export async function dropStorage(dataDir: string): Promise<void> {
  rmSync(dataDir, { recursive: true, force: true });
  const database = await databases.get(dataDir);
  databases.delete(dataDir);
  await database?.drop();
}

/** Skips a test that is about files of SQLite, where servers have none. */
export function onlyOnSqlite(skip: (note: string) => void): void {
  if (isOnPostgres) skip('It is about the files of SQLite.');
}
