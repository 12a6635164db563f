import type { Principal } from '../model/access.ts';
import type { AccessStore, TokenRecord } from '../store/access.ts';
import { hashSecret } from './secret.ts';

/** The tokens that people were given. */
export interface Tokens {
  /** Null when it is none, or not good any more. */
  principal(secret: string): Promise<Principal | null>;
  /** Which of these are good. */
  good(ids: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface TokenOptions {
  store: AccessStore;
  onTrouble(error: unknown): void;
  now(): number;
}

/** How exactly the last use of a token is known. */
const LAST_USE_MS = 60_000;

export function createTokens({ store, onTrouble, now }: TokenOptions): Tokens {
  const touchedAt = new Map<string, number>();

  /** Who asks is not to wait, or to fail, for what is only a note. */
  function touch(id: string): void {
    const at = now();
    if (at - (touchedAt.get(id) ?? 0) < LAST_USE_MS) return;
    touchedAt.set(id, at);
    store.touchToken(id, at).catch(onTrouble);
  }

  return {
    async principal(secret) {
      const token = await store.tokenByHash(hashSecret(secret));
      if (token === null || !isTokenGood(token, now())) return null;
      const { id, owner, scopes, expiresAt } = token;
      touch(id);
      return { owner, scopes, credential: { kind: 'token', id }, expiresAt };
    },
    async good(ids) {
      if (ids.length === 0) return new Set();
      const tokens = await store.tokens(ids);
      return new Set(tokens.filter((token) => isTokenGood(token, now())).map(({ id }) => id));
    },
  };
}

/** @param now epoch ms */
export function isTokenGood({ expiresAt, revokedAt }: TokenRecord, now: number): boolean {
  return revokedAt === null && (expiresAt === null || now < expiresAt);
}
