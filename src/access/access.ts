import { type AccessMode, LOCAL_OWNER, type Principal, SCOPES, type TicketSubject } from '../model/access.ts';
import { HoldfastError } from '../model/error.ts';
import type { AccessStore } from '../store/access.ts';
import { createGrants, type Granted, type Grants } from './grants.ts';
import { createHolds, type Holds } from './holds.ts';
import type { VerifyJwt } from './jwt.ts';
import { orRefuse } from './refusal.ts';
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
   * @throws HoldfastError `unauthorized` when what was presented is not good, `overloaded` and `storage_unavailable` when
   *   that cannot be known now
   */
  authenticate(presented: Presented): Promise<Principal>;
  /** Whether a principal is still what it was when it came in. @throws HoldfastError `storage_unavailable` */
  isGood(principal: Principal): Promise<boolean>;
}

export interface AccessOptions {
  mode: AccessMode;
  store: AccessStore;
  /** Null but with the mode `jwt`. */
  verifyJwt: VerifyJwt | null;
  /** Told what went wrong beside what is asked for. */
  onTrouble(error: unknown): void;
  /** Epoch ms; by default the clock of the store. */
  now?: () => number;
}

const ANYBODY: Principal = { owner: LOCAL_OWNER, scopes: SCOPES, credential: { kind: 'none' }, expiresAt: null };
/** What a JWT looks like, and a token does not. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export function createAccess({ mode, store, verifyJwt, onTrouble, now = store.now }: AccessOptions): Access {
  const tokens = createTokens({ store, onTrouble, now });
  const grants = createGrants({ store, onTrouble, now });
  const holds = createHolds({ areGood, extend: grants.extend, version: store.version, onTrouble, now });

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

  async function areGood(principals: readonly Principal[]): Promise<boolean[]> {
    const credentials = principals.map(({ credential }) => credential);
    const ids = new Set(credentials.flatMap((each) => (each.kind === 'token' ? [each.id] : [])));
    const hashes = new Set(credentials.flatMap((each) => (each.kind === 'grant' ? [each.hash] : [])));
    const [goodTokens, goodGrants] = await Promise.all([tokens.good([...ids]), grants.good([...hashes])]);
    return principals.map(({ credential, expiresAt }) => {
      if (expiresAt !== null && now() >= expiresAt) return false;
      if (credential.kind === 'token') return goodTokens.has(credential.id);
      return credential.kind !== 'grant' || goodGrants.has(credential.hash);
    });
  }

  return {
    mode,
    async authenticate(presented) {
      if (mode === 'none') return ANYBODY;
      const principal = await orRefuse(principalOf(presented));
      if (principal !== null) return principal;
      const nothing = presented.bearer === null && presented.ticket === null && presented.session === null;
      throw new HoldfastError(
        'unauthorized',
        nothing
          ? 'Send a token: Authorization: Bearer <token>.'
          : 'What was sent to show who asks is not, or no longer, good.',
      );
    },
    isGood: async (principal) => (await orRefuse(areGood([principal])))[0] ?? false,
    // Where nobody is asked who they are, nothing is opened by it, and nothing to be kept.
    grantTicket:
      mode === 'none' ? async (_principal, _subject, ttlMs) => looseTicket(now() + ttlMs) : grants.grantTicket,
    grantSession: grants.grantSession,
    async endSession(principal) {
      await grants.endSession(principal);
      holds.lookSoon();
    },
    hold: holds.hold,
    close: holds.close,
  };
}

function looseTicket(expiresAt: number): Granted {
  return { secret: newSecret('hf_ticket_'), expiresAt };
}
