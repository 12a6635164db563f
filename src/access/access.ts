import {
  type AccessMode,
  type Credential,
  LOCAL_OWNER,
  type Principal,
  SCOPES,
  type TicketSubject,
} from '../model/access.ts';
import { HoldfastError } from '../model/error.ts';
import type { AccessStore } from '../store/access.ts';
import { createGrants, type Granted, type Grants } from './grants.ts';
import { createHolds, type Holds } from './holds.ts';
import type { VerifyJwt } from './jwt.ts';
import { newSecret } from './secret.ts';
import { createTokens } from './tokens.ts';

/** What was sent to show who asks, and where: each kind counts only in its place. */
export interface Presented {
  /** Of `Authorization: Bearer`: a token or a JWT. */
  bearer: string | null;
  /** Of the query of a stream, with what the stream is of. */
  ticket: { secret: string; subject: TicketSubject } | null;
  /** Of the cookie of the same origin. */
  session: string | null;
}

/** Who may come in. @see docs/security.md */
export interface Access
  extends Pick<Holds, 'hold' | 'close'>,
    Pick<Grants, 'grantTicket' | 'grantSession' | 'endSession'> {
  readonly mode: AccessMode;
  /**
   * @throws HoldfastError `unauthorized` when what was presented is not good, `overloaded` when that cannot be known now
   */
  authenticate(presented: Presented): Promise<Principal>;
  /** Whether a principal is still what it was when it came in. */
  isGood(principal: Principal): boolean;
}

export interface AccessOptions {
  mode: AccessMode;
  store: AccessStore;
  /** Null but with the mode `jwt`. */
  verifyJwt: VerifyJwt | null;
  /** Told what went wrong beside what is asked for. */
  onTrouble(error: unknown): void;
  /** Epoch ms. */
  now?: () => number;
}

const ANYBODY: Principal = { owner: LOCAL_OWNER, scopes: SCOPES, credential: { kind: 'none' }, expiresAt: null };
/** What a JWT looks like, and a token does not. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export function createAccess({ mode, store, verifyJwt, onTrouble, now = Date.now }: AccessOptions): Access {
  const tokens = createTokens({ store, onTrouble, now });
  const grants = createGrants({ store, tokens, onTrouble, now });
  const holds = createHolds({ isGood, extend: grants.extend, version: store.version, onTrouble, now });

  async function ofBearer(text: string): Promise<Principal | null> {
    if (!JWT.test(text)) return tokens.principal(text);
    return verifyJwt === null ? null : verifyJwt(text);
  }

  /** What is said in a header is meant: a bad token is not made good by a cookie that came along. */
  async function principalOf({ bearer, ticket, session }: Presented): Promise<Principal | null> {
    if (bearer !== null) return ofBearer(bearer);
    if (ticket !== null) return grants.ofTicket(ticket.secret, ticket.subject);
    return session === null ? null : grants.ofSession(session);
  }

  function isGood({ credential, expiresAt }: Principal): boolean {
    return (expiresAt === null || now() < expiresAt) && isKept(credential);
  }

  function isKept(credential: Credential): boolean {
    switch (credential.kind) {
      case 'none':
      case 'jwt':
        return true;
      case 'token':
        return tokens.isGood(credential.id);
      case 'grant':
        return grants.isGood(credential.hash);
    }
  }

  return {
    mode,
    async authenticate(presented) {
      if (mode === 'none') return ANYBODY;
      const principal = await principalOf(presented);
      if (principal !== null) return principal;
      const nothing = presented.bearer === null && presented.ticket === null && presented.session === null;
      throw new HoldfastError(
        'unauthorized',
        nothing
          ? 'Send a token: Authorization: Bearer <token>.'
          : 'What was sent to show who asks is not, or no longer, good.',
      );
    },
    isGood,
    // Where nobody is asked who they are, nothing is opened by it, and nothing to be kept.
    grantTicket: mode === 'none' ? (_principal, _subject, ttlMs) => looseTicket(now() + ttlMs) : grants.grantTicket,
    grantSession: grants.grantSession,
    endSession(principal) {
      grants.endSession(principal);
      holds.lookSoon();
    },
    hold: holds.hold,
    close: holds.close,
  };
}

function looseTicket(expiresAt: number): Granted {
  return { secret: newSecret('hf_ticket_'), expiresAt };
}
