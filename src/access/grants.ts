import type { Principal, Scope, TicketSubject } from '../model/access.ts';
import { HoldfastError } from '../model/error.ts';
import type { AccessStore, GrantRecord } from '../store/access.ts';
import { StoreError } from '../store/store.ts';
import { hashSecret, newSecret } from './secret.ts';
import type { Tokens } from './tokens.ts';

/** What stands for another credential for a while. */
export interface Grants {
  /**
   * A ticket that opens streams of a subject.
   *
   * @param ttlMs how long it may wait for the first one
   * @throws HoldfastError `storage_full`, `unauthorized`
   */
  grantTicket(principal: Principal, subject: TicketSubject, ttlMs: number): Granted;
  /** The session of a browser. */
  grantSession(principal: Principal): Granted;
  /** Ends the session that a principal came in by; nothing for any other. @throws HoldfastError `storage_full` */
  endSession(principal: Principal): void;
  ofTicket(secret: string, subject: TicketSubject): Principal | null;
  ofSession(secret: string): Principal | null;
  isGood(hash: string): boolean;
  /** Something that these have opened is open. */
  extend(hashes: readonly string[]): void;
}

/** Shown once. */
export interface Granted {
  secret: string;
  /** Epoch ms. */
  expiresAt: number;
}

export interface GrantOptions {
  store: AccessStore;
  tokens: Pick<Tokens, 'isGood'>;
  onTrouble(error: unknown): void;
  now(): number;
}

const HOUR_MS = 60 * 60_000;
/** A working day. */
const LONGEST_MS = 12 * HOUR_MS;
/** Five minutes in which a reader that lost its stream comes back, and the minute in which {@link Grants.extend} is called again. */
const COMING_BACK_MS = 6 * 60_000;
const TICKET_SCOPES: readonly Scope[] = ['tasks:read'];
/** With each that is made so many are forgotten that open nothing any more: they cannot gather. */
const FORGOTTEN_AT_ONCE = 10;
/** One that holds something open is moved on every minute; that may fail for a while. */
const KEPT_MS = 10 * 60_000;

export function createGrants({ store, tokens, onTrouble, now }: GrantOptions): Grants {
  function grant(
    principal: Principal,
    its: Pick<GrantRecord, 'kind' | 'scopes' | 'subject'> & { openMs: number },
  ): Granted {
    const { openMs, ...record } = its;
    const { owner, credential } = principal;
    const secret = newSecret(record.kind === 'ticket' ? 'hf_ticket_' : 'hf_session_');
    const createdAt = now();
    // It is never good for longer than what it stands for.
    const endsAt = Math.min(createdAt + LONGEST_MS, principal.expiresAt ?? Number.POSITIVE_INFINITY);
    const openUntil = Math.min(createdAt + openMs, endsAt);
    const parent = credential.kind === 'grant' ? store.grant(credential.hash) : null;
    // What it would go with has gone meanwhile: it would go with nothing.
    if (credential.kind === 'grant' && parent === null)
      throw new HoldfastError('unauthorized', 'The session has ended.');
    const tokenId = credential.kind === 'token' ? credential.id : (parent?.tokenId ?? null);
    const times = { createdAt, openUntil, endsAt };
    const hash = hashSecret(secret);
    write(() => {
      store.removeClosedGrants(createdAt - KEPT_MS, FORGOTTEN_AT_ONCE);
      store.addGrant({ ...record, ...times, owner, tokenId, hash, sessionHash: parent?.hash ?? null });
    });
    return { secret, expiresAt: openUntil };
  }

  function find(secret: string, kind: GrantRecord['kind']): GrantRecord | null {
    const found = store.grant(hashSecret(secret));
    return found?.kind === kind && now() < found.openUntil && isStanding(found) ? found : null;
  }

  /** Whether it has not ended, nor what it stands for. */
  function isStanding({ tokenId, sessionHash, endsAt }: GrantRecord): boolean {
    if (now() >= endsAt) return false;
    if (sessionHash !== null && !isGood(sessionHash)) return false;
    return tokenId === null || tokens.isGood(tokenId);
  }

  function isGood(hash: string): boolean {
    const found = store.grant(hash);
    return found !== null && isStanding(found);
  }

  return {
    grantTicket: (principal, subject, ttlMs) =>
      grant(principal, { kind: 'ticket', scopes: TICKET_SCOPES, subject, openMs: ttlMs }),
    grantSession: (principal) =>
      grant(principal, { kind: 'session', scopes: principal.scopes, subject: null, openMs: LONGEST_MS }),
    endSession({ credential }) {
      if (credential.kind === 'grant') write(() => store.removeGrant(credential.hash));
    },
    ofTicket(secret, subject) {
      const found = find(secret, 'ticket');
      return found?.subject && opens(found.subject, subject) ? toPrincipal(found) : null;
    },
    ofSession(secret) {
      const found = find(secret, 'session');
      return found && toPrincipal(found);
    },
    isGood,
    extend(hashes) {
      try {
        store.extendGrants(hashes, now() + COMING_BACK_MS);
      } catch (error) {
        onTrouble(error);
      }
    },
  };
}

/** @throws HoldfastError `storage_full` */
function write(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'storage_full') throw error;
    throw new HoldfastError('storage_full', 'Nothing can be stored at the moment.');
  }
}

function toPrincipal({ hash, owner, scopes, endsAt }: GrantRecord): Principal {
  return { owner, scopes, credential: { kind: 'grant', hash }, expiresAt: endsAt };
}

/** A ticket for everything opens every stream of its owner; any other the one that it names. */
function opens(ticket: TicketSubject, stream: TicketSubject): boolean {
  if (ticket.taskId === null && ticket.conversationId === null) return true;
  return ticket.taskId === stream.taskId && ticket.conversationId === stream.conversationId;
}
