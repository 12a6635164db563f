import type { Principal } from '../model/access.ts';
import type { AccessStore, TokenRecord } from '../store/access.ts';
import { hashSecret } from './secret.ts';

/** The tokens that people were given. */
export interface Tokens {
  /** Null when it is none, or not good any more. */
  principal(secret: string): Principal | null;
  isGood(id: string): boolean;
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

  function isValid({ expiresAt, revokedAt }: TokenRecord): boolean {
    return revokedAt === null && (expiresAt === null || now() < expiresAt);
  }

  function touch(id: string): void {
    const at = now();
    if (at - (touchedAt.get(id) ?? 0) < LAST_USE_MS) return;
    touchedAt.set(id, at);
    try {
      store.touchToken(id, at);
    } catch (error) {
      // Who asks is not to wait, or to fail, for what is only a note.
      onTrouble(error);
    }
  }

  return {
    principal(secret) {
      const token = store.tokenByHash(hashSecret(secret));
      if (token === null || !isValid(token)) return null;
      const { id, owner, scopes, expiresAt } = token;
      touch(id);
      return { owner, scopes, credential: { kind: 'token', id }, expiresAt };
    },
    isGood(id) {
      const token = store.token(id);
      return token !== null && isValid(token);
    },
  };
}
