import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { EVERYDAY_SCOPES, isOwnerName, type Principal, SCOPES, type Scope } from '../model/access.ts';
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
/** The last instant that a date can say. */
const LATEST = 8.64e15;
/** After a failure the keys are not asked for again at once, whoever makes up names of keys. */
const FETCH_AGAIN_MS = 5000;

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
  const getKey: JWTVerifyGetKey = isSecret
    ? async () => keys.secret
    : createRemoteJWKSet(keys.jwks, { [customFetch]: fetchPatiently() });

  return async (text) => {
    const payload = await jwtVerify(text, getKey, options).then(
      (verified) => verified.payload,
      (error: unknown) => {
        if (isRefusal(error)) return null;
        throw new HoldfastError('overloaded', 'The keys that tokens are checked with cannot be had at the moment.');
      },
    );
    return payload && toPrincipal(payload);
  };
}

/** Keys that are known already are used meanwhile. */
function fetchPatiently(): FetchImplementation {
  let failedAt = Number.NEGATIVE_INFINITY;
  return async (url, options) => {
    if (performance.now() - failedAt < FETCH_AGAIN_MS) throw new Error('The keys could not be had a moment ago.');
    const response = await fetch(url, options).catch((error: unknown) => {
      failedAt = performance.now();
      throw error;
    });
    if (!response.ok) failedAt = performance.now();
    return response;
  };
}

function toPrincipal(payload: JWTPayload): Principal | null {
  const { sub, exp } = payload;
  // Others may sign what is no text: a number is no name, since it could be written in several ways.
  if (typeof sub !== 'string' || typeof exp !== 'number' || !isOwnerName(sub)) return null;
  const expiresAt = Math.min(exp * 1000, LATEST);
  // The tolerance is for clocks that are behind the one that says from when it is good.
  if (Date.now() >= expiresAt) return null;
  return { owner: sub, scopes: scopesOf(payload), credential: { kind: 'jwt' }, expiresAt };
}

/** Scopes of other services may stand beside ours. */
function scopesOf({ scope, scp }: JWTPayload): readonly Scope[] {
  const given = scope ?? scp;
  if (given === undefined) return EVERYDAY_SCOPES;
  const names: unknown[] = typeof given === 'string' ? given.split(' ') : Array.isArray(given) ? given : [];
  return SCOPES.filter((known) => names.includes(known));
}

/** What is wrong with the token itself, and not with getting at the keys. */
function isRefusal(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return false;
  return error instanceof errors.JOSEError && error.code !== 'ERR_JOSE_GENERIC';
}
