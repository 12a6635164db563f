import { createToken, revokeToken } from '../../src/access/token-list.ts';
import type { Scope } from '../../src/model/access.ts';
import type { AccessStore } from '../../src/store/access.ts';
import { openPostgresAccess } from '../../src/store/postgres/access/open.ts';
import { openSqliteAccess } from '../../src/store/sqlite/access/open.ts';
import { isOnPostgres, storageFlags } from './test-engine.ts';

/** Makes a token for the servers on a data directory, as an operator does. */
export function makeToken(
  dataDir: string,
  owner: string,
  scopes: readonly Scope[],
  expiresInMs: number | null = null,
): Promise<{ id: string; token: string }> {
  return withAccess(dataDir, (store) => createToken(store, { owner, scopes, expiresInMs }));
}

export async function revokeTokenOf(dataDir: string, id: string): Promise<void> {
  const isThere = await withAccess(dataDir, (store) => revokeToken(store, id));
  if (!isThere) throw new Error(`There is no token ${id}.`);
}

async function withAccess<T>(dataDir: string, use: (store: AccessStore) => Promise<T>): Promise<T> {
  const store = await openStore(dataDir);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

async function openStore(dataDir: string): Promise<AccessStore> {
  if (!isOnPostgres) return openSqliteAccess(dataDir, 'operator');
  const [, url = ''] = await storageFlags(dataDir);
  return openPostgresAccess({ url, use: 'operator' });
}
