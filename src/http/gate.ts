import { getCookie } from 'hono/cookie';
import type { Access } from '../access/access.ts';
import { isOwnerName, type Principal } from '../model/access.ts';
import { HoldfastError } from '../model/error.ts';
import type { Gate, HttpContext, Operation } from './operation.ts';
import { siteOf } from './site.ts';

/** Without its prefix, `__Host-`: a browser then takes and sends it over HTTPS alone, or to itself, for no other host. */
export const SESSION_COOKIE = 'holdfast';
/** For whom a trusted server acts. */
const OWNER_HEADER = 'Holdfast-Owner';
const BEARER = /^Bearer +([\x21-\x7e]+) *$/i;

/** Finds out who asks, and whether they may. @see docs/security.md */
export function createGate(access: Pick<Access, 'mode' | 'authenticate' | 'isGood'>): Gate {
  return {
    async admit(c, operation) {
      if (operation.access === 'anyone') return;
      const shown = await access.authenticate({
        bearer: bearerOf(c),
        ticket: ticketOf(c, operation),
        session: sessionOf(c),
      });
      const principal = actingFor(c, shown);
      if (operation.access !== 'signed-in' && !principal.scopes.includes(operation.access)) {
        throw new HoldfastError('forbidden', `This takes the scope ${operation.access}.`);
      }
      c.set('principal', principal);
    },
    async admitAgain(c) {
      if (!(await access.isGood(c.get('principal')))) {
        throw new HoldfastError('unauthorized', 'What was sent to show who asks has ended meanwhile.');
      }
    },
  };

  /** A trusted server acts for one of its users: with what it may do itself, but for what is the operator's. */
  function actingFor(c: HttpContext, principal: Principal): Principal {
    const owner = c.req.header(OWNER_HEADER);
    if (owner === undefined) return principal;
    if (access.mode === 'none') {
      throw new HoldfastError('forbidden', `Without authentication there is one owner: ${OWNER_HEADER} is refused.`);
    }
    if (!principal.scopes.includes('impersonate')) {
      throw new HoldfastError('forbidden', `${OWNER_HEADER} takes the scope impersonate.`);
    }
    if (!isOwnerName(owner)) {
      throw new HoldfastError('invalid_request', `${OWNER_HEADER} is 1 to 255 visible ASCII characters.`);
    }
    const scopes = principal.scopes.filter((scope) => scope !== 'admin' && scope !== 'impersonate');
    return { ...principal, owner, scopes };
  }
}

/** A header that is there is meant: one that is no bearer token is a bad one. */
function bearerOf(c: HttpContext): string | null {
  const header = c.req.header('Authorization');
  if (header === undefined) return null;
  return BEARER.exec(header)?.[1] ?? '';
}

function ticketOf(c: HttpContext, { stream }: Operation) {
  const secret = c.req.query('ticket') ?? '';
  return stream === undefined || secret === '' ? null : { secret, subject: stream.subject(c) };
}

/**
 * A browser sends a cookie by itself, whoever has made it ask: it counts only when it says that this was a page of
 * this server, and for reads also when it is too old to say anything, since those are not shown to others.
 */
function sessionOf(c: HttpContext): string | null {
  const site = siteOf(c, []);
  const isRead = c.req.method === 'GET' || c.req.method === 'HEAD';
  // What a person types or clicks elsewhere reads; it is no page of ours that changes something.
  const isOwnPage = site === 'same' && c.req.header('Sec-Fetch-Site') !== 'none';
  const counts = isOwnPage || (isRead && (site === 'same' || site === 'unknown'));
  return counts ? (getCookie(c, SESSION_COOKIE, 'host') ?? null) : null;
}
