import { createToken } from '../../src/access/token-list.ts';
import type { Scope } from '../../src/model/access.ts';
import { openSqliteAccess } from '../../src/store/sqlite/access/open.ts';

/** Makes a token in the data directory of a server, as an operator does. */
export function makeToken(
  dataDir: string,
  owner: string,
  scopes: readonly Scope[],
  expiresInMs: number | null = null,
): { id: string; token: string } {
  const store = openSqliteAccess(dataDir, 'operator');
  try {
    return createToken(store, { owner, scopes, expiresInMs });
  } finally {
    store.close();
  }
}

export function revokeTokenOf(dataDir: string, id: string): void {
  const store = openSqliteAccess(dataDir, 'operator');
  try {
    if (!store.revokeToken(id, Date.now())) throw new Error(`There is no token ${id}.`);
  } finally {
    store.close();
  }
}
