import type { Principal, Scope, TicketSubject } from '../model/access.ts';
import { HoldfastError } from '../model/error.ts';
import type { AccessStore, GrantRecord, KnownGrant } from '../store/access.ts';
import { orRefuse } from './refusal.ts';
import { hashSecret, newSecret } from './secret.ts';
import { isTokenGood } from './tokens.ts';

/** What stands for another credential for a while. */
export interface Grants {
  /**
   * A ticket that opens streams of a subject.
   *
   * @param ttlMs how long it may wait for the first one
   * @throws HoldfastError `storage_full`, `storage_unavailable`, `unauthorized`
   */
  grantTicket(principal: Principal, subject: TicketSubject, ttlMs: number): Promise<Granted>;
  /** The session of a browser. Likewise. */
  grantSession(principal: Principal): Promise<Granted>;
  /**
   * Ends the session that a principal came in by; nothing for any other.
   *
   * @throws HoldfastError `storage_full`, `storage_unavailable`
   */
  endSession(principal: Principal): Promise<void>;
  ofTicket(secret: string, subject: TicketSubject): Promise<Principal | null>;
  ofSession(secret: string): Promise<Principal | null>;
  /** Which of these are good, whether or not they may open anything more. */
  good(hashes: readonly string[]): Promise<ReadonlySet<string>>;
  /** Something that these have opened is open. */
  extend(hashes: readonly string[]): Promise<void>;
}

/** Shown once. */
export interface Granted {
  secret: string;
  /** Epoch ms. */
  expiresAt: number;
}

export interface GrantOptions {
  store: AccessStore;
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

export function createGrants({ store, onTrouble, now }: GrantOptions): Grants {
  async function grant(
    principal: Principal,
    its: Pick<GrantRecord, 'kind' | 'scopes' | 'subject'> & { openMs: number },
  ): Promise<Granted> {
    const { openMs, ...record } = its;
    const { owner } = principal;
    const secret = newSecret(record.kind === 'ticket' ? 'hf_ticket_' : 'hf_session_');
    const createdAt = now();
    // It is never good for longer than what it stands for.
    const endsAt = Math.min(createdAt + LONGEST_MS, principal.expiresAt ?? Number.POSITIVE_INFINITY);
    const openUntil = Math.min(createdAt + openMs, endsAt);
    const times = { createdAt, openUntil, endsAt };
    const hash = hashSecret(secret);
    await orRefuse(store.removeClosedGrants(createdAt - KEPT_MS, FORGOTTEN_AT_ONCE));
    const isAdded = await orRefuse(store.addGrant({ ...record, ...times, ...originOf(principal), owner, hash }));
    // What it would go with has gone meanwhile: it would go with nothing.
    if (!isAdded) throw new HoldfastError('unauthorized', 'The session has ended.');
    return { secret, expiresAt: openUntil };
  }

  async function find(secret: string, kind: GrantRecord['kind']): Promise<GrantRecord | null> {
    const [found] = await store.grants([hashSecret(secret)]);
    return found?.kind === kind && now() < found.openUntil && isStanding(found) ? found : null;
  }

  /** Whether it has not ended, nor the token that it stands for. */
  function isStanding({ tokenId, token, endsAt }: KnownGrant): boolean {
    if (now() >= endsAt) return false;
    return tokenId === null || (token !== null && isTokenGood(token, now()));
  }

  return {
    grantTicket: (principal, subject, ttlMs) =>
      grant(principal, { kind: 'ticket', scopes: TICKET_SCOPES, subject, openMs: ttlMs }),
    grantSession: (principal) =>
      grant(principal, { kind: 'session', scopes: principal.scopes, subject: null, openMs: LONGEST_MS }),
    async endSession({ credential }) {
      if (credential.kind === 'grant') await orRefuse(store.removeGrant(credential.hash));
    },
    async ofTicket(secret, subject) {
      const found = await find(secret, 'ticket');
      return found?.subject && opens(found.subject, subject) ? toPrincipal(found) : null;
    },
    async ofSession(secret) {
      const found = await find(secret, 'session');
      return found && toPrincipal(found);
    },
    async good(hashes) {
      if (hashes.length === 0) return new Set();
      const found = await store.grants(hashes);
      return new Set(found.filter(isStanding).map(({ hash }) => hash));
    },
    extend: (hashes) => store.extendGrants(hashes, now() + COMING_BACK_MS).catch(onTrouble),
  };
}

/** What a grant goes back to, and goes with. */
function originOf({ credential }: Principal): Pick<GrantRecord, 'tokenId' | 'sessionHash'> {
  switch (credential.kind) {
    case 'token':
      return { tokenId: credential.id, sessionHash: null };
    case 'grant':
      return { tokenId: credential.tokenId, sessionHash: credential.hash };
    default:
      return { tokenId: null, sessionHash: null };
  }
}

function toPrincipal({ hash, owner, scopes, tokenId, endsAt }: GrantRecord): Principal {
  return { owner, scopes, credential: { kind: 'grant', hash, tokenId }, expiresAt: endsAt };
}

/** A ticket for everything opens every stream of its owner; any other the one that it names. */
function opens(ticket: TicketSubject, stream: TicketSubject): boolean {
  if (ticket.taskId === null && ticket.conversationId === null) return true;
  return ticket.taskId === stream.taskId && ticket.conversationId === stream.conversationId;
}
