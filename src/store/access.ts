import type { Scope, TicketSubject } from '../model/access.ts';

/**
 * Who may come in: apart from the tasks, so that neither a restored backup of those revives what was revoked, nor a new
 * token has to wait for them. Every call is short, and sees what other processes have committed. Every engine passes
 * `test/access/access-store.suite.ts`.
 *
 * Secrets are never in it, only their SHA-256, in hexadecimal.
 *
 * @throws StoreError `storage_unavailable` when the database cannot be reached, from every call; `storage_full` from what
 *   writes, when nothing was written for want of space, or of a lock
 */
export interface AccessStore {
  addToken(token: TokenRecord & { hash: string }): Promise<void>;
  tokenByHash(hash: string): Promise<TokenRecord | null>;
  /** Oldest first. @param ids of these alone, as far as there are any */
  tokens(ids?: readonly string[]): Promise<TokenRecord[]>;
  /** @returns false when there is no such token; one that was revoked stays as it was */
  revokeToken(id: string, at: number): Promise<boolean>;
  /** Remembers when a token was used last. */
  touchToken(id: string, at: number): Promise<void>;

  /** @returns false, with nothing written, when the session that it was got with has ended */
  addGrant(grant: GrantRecord): Promise<boolean>;
  /** Those of these that there are, in no order; none whose session has ended, at however many removes. */
  grants(hashes: readonly string[]): Promise<KnownGrant[]>;
  /** Ends a grant, and with it what was got with it. */
  removeGrant(hash: string): Promise<void>;
  /** Lets grants open streams until then: never for shorter than before, and no longer than they last. */
  extendGrants(hashes: readonly string[], openUntil: number): Promise<void>;
  /** Forgets grants that open nothing since before then, at most so many. */
  removeClosedGrants(before: number, limit: number): Promise<void>;

  /**
   * Another number than before whenever another process has revoked or ended something here.
   *
   * @throws StoreError `storage_failed` when this is no longer what stands on the disk: somebody has put another there
   */
  version(): Promise<number>;
  /** Epoch ms by the clock that all processes go by here, as near as this one knows it. */
  now(): number;
  /** Null where one process has the data for itself, and counts by itself. */
  readonly counts: RequestCounts | null;
  /** Waits for what is under way. */
  close(): Promise<void>;
}

/** How many requests owners have sent, to all processes together. */
export interface RequestCounts {
  /**
   * Adds to what is counted in an owner's window, which is begun when there is none, or it is over.
   *
   * @param counts by owner
   * @returns of the same owners, what the window has come to
   */
  add(counts: ReadonlyMap<string, number>, windowMs: number): Promise<Map<string, WindowCount>>;
}

/** `leftMs` is how long the window goes on. */
export interface WindowCount {
  count: number;
  leftMs: number;
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

/** A grant with the token of its `tokenId` as it is now; null where it has none. */
export interface KnownGrant extends GrantRecord {
  token: TokenRecord | null;
}
