import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { HoldfastError } from '../model/error.ts';
import { prefersJson } from './event-request.ts';
import type { Metrics } from './metrics.ts';
import { type HttpContext, type Operation, ownerOf } from './operation.ts';

/** How many requests an owner may send. @see docs/protocol.md §9 */
export interface RequestLimit {
  /**
   * Counts a request, and says in its headers what is left.
   *
   * @throws HoldfastError `rate_limited`; for a stream `overloaded`, which asks it to come back
   */
  admit(c: HttpContext, operation: Operation): Promise<void>;
}

const WINDOW_SECONDS = 60;
const COUNTED = '/v1/';
/** As the headers name it. */
const POLICY = '"owner"';

/** @param perMinute 0 counts nothing */
export function createRequestLimit(perMinute: number, { refused }: Metrics['overload']): RequestLimit {
  if (perMinute === 0) return { admit: async () => {} };
  const limiter = new RateLimiterMemory({ points: perMinute, duration: WINDOW_SECONDS });
  const policy = `${POLICY};q=${perMinute};w=${WINDOW_SECONDS}`;

  /** The form of draft-ietf-httpapi-ratelimit-headers-10. */
  function tell(c: HttpContext, { remainingPoints, msBeforeNext }: RateLimiterRes): number {
    const seconds = Math.ceil(msBeforeNext / 1000);
    c.header('RateLimit-Policy', policy);
    c.header('RateLimit', `${POLICY};r=${remainingPoints};t=${seconds}`);
    return seconds;
  }

  return {
    async admit(c, operation) {
      // The rest is for those who look after the server, and pages.
      if (!operation.path.startsWith(COUNTED) || operation.access === 'anyone') return;
      const left = await limiter.consume(ownerOf(c)).catch(toRefusal);
      const retryAfter = tell(c, left);
      if (left.consumedPoints <= perMinute) return;
      refused.inc({ reason: 'rate_limited' });
      if (opensStream(c, operation)) throw new HoldfastError('overloaded', 'Too many requests.');
      const message = `An owner may send ${perMinute} requests in ${WINDOW_SECONDS} s.`;
      throw new HoldfastError('rate_limited', message, { retryAfter });
    },
  };
}

/** Whether the answer would be a stream, to which a client must not be told an error of the server. */
export function opensStream(c: HttpContext, { stream }: Operation): boolean {
  return stream !== undefined && !prefersJson(c.req.header('Accept'));
}

/** The limiter rejects with the count of what was too much. */
function toRefusal(reason: unknown): RateLimiterRes {
  if (reason instanceof RateLimiterRes) return reason;
  throw reason;
}
