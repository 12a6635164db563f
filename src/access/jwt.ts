import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { EVERYDAY_SCOPES, isOwnerName, isScope, type Principal, type Scope } from '../model/access.ts';
import { HoldfastError } from '../model/error.ts';

/** Null when it is not good. @throws HoldfastError `overloaded` when the keys cannot be had at the moment */
export type VerifyJwt = (text: string) => Promise<Principal | null>;

export interface JwtOptions {
  /** What signs them: a secret that is shared, or where the public keys are published. */
  keys: { secret: Uint8Array } | { jwks: URL };
  /** Who they must be meant for: `aud`. */
  audience: string;
  /** Who must have made them: `iss`. */
  issuer: string;
}

/** With at least so many bytes a shared secret is as hard to guess as its signature. */
export const MIN_SECRET_BYTES = 32;

/** A secret is never taken for a public key, nor the other way round: each has algorithms of its own. */
const SECRET_ALGORITHMS = ['HS256', 'HS384', 'HS512'];
const KEY_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const CLOCK_TOLERANCE_SECONDS = 5;

/**
 * Reads the tokens of somebody else's sign-in: `sub` is the owner, `scope` or `scp` what they may do, everyday scopes
 * unless it says. One without an end is refused.
 */
export function createJwtVerifier({ keys, audience, issuer }: JwtOptions): VerifyJwt {
  const isSecret = 'secret' in keys;
  const options = {
    audience,
    issuer,
    algorithms: isSecret ? SECRET_ALGORITHMS : KEY_ALGORITHMS,
    requiredClaims: ['exp', 'sub'],
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
  };
  const getKey: JWTVerifyGetKey = isSecret ? async () => keys.secret : createRemoteJWKSet(keys.jwks);

  return async (text) => {
    try {
      const { payload } = await jwtVerify(text, getKey, options);
      return toPrincipal(payload);
    } catch (error) {
      if (isRefusal(error)) return null;
      throw new HoldfastError('overloaded', 'The keys that tokens are checked with cannot be had at the moment.');
    }
  };
}

function toPrincipal(payload: JWTPayload): Principal | null {
  const { sub, exp } = payload;
  if (sub === undefined || exp === undefined || !isOwnerName(sub)) return null;
  const expiresAt = (exp + CLOCK_TOLERANCE_SECONDS) * 1000;
  return { owner: sub, scopes: scopesOf(payload), credential: { kind: 'jwt' }, expiresAt };
}

/** Scopes of other services may stand beside ours. */
function scopesOf({ scope, scp }: JWTPayload): readonly Scope[] {
  const given = scope ?? scp;
  if (given === undefined) return EVERYDAY_SCOPES;
  const names = Array.isArray(given) ? given : String(given).split(' ');
  return names.filter(isScope);
}

/** What is wrong with the token itself, and not with getting at the keys. */
function isRefusal(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return false;
  return error instanceof errors.JOSEError && error.code !== 'ERR_JOSE_GENERIC';
}
