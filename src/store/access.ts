import type { Scope, TicketSubject } from '../model/access.ts';

/**
 * Who may come in: apart from the tasks, so that neither a restored backup of those revives what was revoked, nor a new
 * token has to wait for them. Every call is synchronous and short, and sees what other processes have committed.
 *
 * Secrets are never in it, only their SHA-256, in hexadecimal.
 *
 * What writes throws StoreError `storage_full` when nothing was written for want of space, or of a lock.
 */
export interface AccessStore {
  addToken(token: TokenRecord & { hash: string }): void;
  tokenByHash(hash: string): TokenRecord | null;
  token(id: string): TokenRecord | null;
  /** Oldest first. */
  tokens(): TokenRecord[];
  /** @returns false when there is no such token; one that was revoked stays as it was */
  revokeToken(id: string, at: number): boolean;
  /** Remembers when a token was used last. */
  touchToken(id: string, at: number): void;

  addGrant(grant: GrantRecord): void;
  grant(hash: string): GrantRecord | null;
  removeGrant(hash: string): void;
  /** Lets grants open streams until then: never for shorter than before, and no longer than they last. */
  extendGrants(hashes: readonly string[], openUntil: number): void;
  /** Forgets grants that open nothing since before then, at most so many. */
  removeClosedGrants(before: number, limit: number): void;

  /**
   * Another number than before whenever somebody else has changed something here.
   *
   * @throws StoreError `storage_failed` when this is no longer what stands on the disk: somebody has put another there
   */
  version(): number;
  close(): void;
}

/** Times are epoch ms. */
export interface TokenRecord {
  id: string;
  owner: string;
  scopes: readonly Scope[];
  createdAt: number;
  /** Null for never. */
  expiresAt: number | null;
  /** To the minute; null when it was never used. */
  lastUsedAt: number | null;
  revokedAt: number | null;
}

/** What stands for another credential for a while: a ticket for streams, or the session of a browser. */
export interface GrantRecord {
  hash: string;
  kind: 'ticket' | 'session';
  /** The token that it goes back to, and goes with; null for a JWT, and where nobody is asked who they are. */
  tokenId: string | null;
  /** The session that a ticket was got with, and goes with. */
  sessionHash: string | null;
  owner: string;
  scopes: readonly Scope[];
  /** Null for a session. */
  subject: TicketSubject | null;
  createdAt: number;
  /** Until when it opens anything. */
  openUntil: number;
  /** When it has ended, whatever it holds open. */
  endsAt: number;
}
