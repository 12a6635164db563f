import { uuidv7obj } from 'uuidv7';
import type { Scope } from '../model/access.ts';
import { formatId } from '../model/id.ts';
import type { AccessStore, TokenRecord } from '../store/access.ts';
import { hashSecret, newSecret } from './secret.ts';

export interface NewToken {
  owner: string;
  scopes: readonly Scope[];
  /** Null for never. */
  expiresInMs: number | null;
}

/** A token as it is shown to an operator. Times are ISO 8601. */
export interface TokenListing {
  id: string;
  owner: string;
  scopes: readonly Scope[];
  state: 'good' | 'expired' | 'revoked';
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
}

/** Makes a token. What it is, is known to the caller alone. @throws StoreError when it cannot be written */
export function createToken(
  store: AccessStore,
  { owner, scopes, expiresInMs }: NewToken,
): { id: string; token: string } {
  const token = newSecret('hf_token_');
  const id = formatId('tok', uuidv7obj().bytes);
  const createdAt = Date.now();
  const expiresAt = expiresInMs === null ? null : Math.round(createdAt + expiresInMs);
  const never = { lastUsedAt: null, revokedAt: null };
  store.addToken({ id, hash: hashSecret(token), owner, scopes: [...new Set(scopes)], createdAt, expiresAt, ...never });
  return { id, token };
}

/** @returns false when there is no such token */
export function revokeToken(store: AccessStore, id: string): boolean {
  return store.revokeToken(id, Date.now());
}

/** Oldest first. */
export function tokenListing(store: AccessStore): TokenListing[] {
  return store.tokens().map((token) => ({
    id: token.id,
    owner: token.owner,
    scopes: token.scopes,
    state: stateOf(token),
    createdAt: new Date(token.createdAt).toISOString(),
    expiresAt: isoOrNull(token.expiresAt),
    lastUsedAt: isoOrNull(token.lastUsedAt),
  }));
}

function stateOf({ revokedAt, expiresAt }: TokenRecord): TokenListing['state'] {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= Date.now() ? 'expired' : 'good';
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
