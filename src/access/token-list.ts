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
export async function createToken(
  store: AccessStore,
  { owner, scopes, expiresInMs }: NewToken,
): Promise<{ id: string; token: string }> {
  const token = newSecret('hf_token_');
  const id = formatId('tok', uuidv7obj().bytes);
  const createdAt = store.now();
  const expiresAt = expiresInMs === null ? null : Math.round(createdAt + expiresInMs);
  const times = { createdAt, expiresAt, lastUsedAt: null, revokedAt: null };
  await store.addToken({ id, hash: hashSecret(token), owner, scopes: [...new Set(scopes)], ...times });
  return { id, token };
}

/** @returns false when there is no such token */
export function revokeToken(store: AccessStore, id: string): Promise<boolean> {
  return store.revokeToken(id, store.now());
}

/** Oldest first. */
export async function tokenListing(store: AccessStore): Promise<TokenListing[]> {
  const tokens = await store.tokens();
  return tokens.map((token) => ({
    id: token.id,
    owner: token.owner,
    scopes: token.scopes,
    state: stateOf(token, store.now()),
    createdAt: new Date(token.createdAt).toISOString(),
    expiresAt: isoOrNull(token.expiresAt),
    lastUsedAt: isoOrNull(token.lastUsedAt),
  }));
}

function stateOf({ revokedAt, expiresAt }: TokenRecord, now: number): TokenListing['state'] {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'good';
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
