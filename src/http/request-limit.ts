import type { RateLimiterRes } from 'rate-limiter-flexible';
import { HoldfastError } from '../model/error.ts';
import type { RequestCounts } from '../store/access.ts';
import { prefersJson } from './event-request.ts';
import type { Metrics } from './metrics.ts';
import { type HttpContext, type Operation, ownerOf } from './operation.ts';
import { createRequestCount } from './request-count.ts';

/** How many requests an owner may send. @see docs/protocol.md §9 */
export interface RequestLimit {
  /**
   * Counts a request, and says in its headers what is left.
   *
   * @throws HoldfastError `rate_limited`; for a stream `overloaded`, which asks it to come back
   */
  admit(c: HttpContext, operation: Operation): Promise<void>;
  /** Tells other servers nothing more. */
  close(): void;
}

const WINDOW_SECONDS = 60;
const COUNTED = '/v1/';
/** As the headers name it. */
const POLICY = '"owner"';

/**
 * @param perMinute 0 counts nothing
 * @param counts where several servers count together; null where this one counts alone
 */
export function createRequestLimit(
  perMinute: number,
  { refused }: Metrics['overload'],
  counts: RequestCounts | null = null,
): RequestLimit {
  if (perMinute === 0) return { admit: async () => {}, close() {} };
  const { add, close } = createRequestCount(perMinute, WINDOW_SECONDS, counts);
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
      const left = await add(ownerOf(c));
      const retryAfter = tell(c, left);
      if (left.consumedPoints <= perMinute) return;
      refused.inc({ reason: 'rate_limited' });
      if (opensStream(c, operation)) throw new HoldfastError('overloaded', 'Too many requests.');
      const message = `An owner may send ${perMinute} requests in ${WINDOW_SECONDS} s.`;
      throw new HoldfastError('rate_limited', message, { retryAfter });
    },
    close,
  };
}

/** Whether the answer would be a stream, to which a client must not be told an error of the server. */
export function opensStream(c: HttpContext, { stream }: Operation): boolean {
  return stream !== undefined && !prefersJson(c.req.header('Accept'));
}
