import { backoffMs } from '../backoff.ts';
import type { Ending } from '../ending.ts';
import type { Waker } from '../environment.ts';
import { HoldfastError } from '../error.ts';
import { pause } from '../pause.ts';
import type { Requests } from './request.ts';
import { retryAfterMs } from './retry-after.ts';

/** Before the second and the third try of a read, about. */
const READ_WAITS_MS = [300, 700];
const MAX_INTERNAL = 5;
/** The server keeps an idempotency key for 24 h: after that, to send again would be to do again. */
const GIVE_UP_AFTER_MS = 23 * 60 * 60_000;
const PASSING_STATUS = [408, 429, 502, 503, 504];

/**
 * The same requests, tried again; a wait between two tries ends early when it is woken. A read is tried three times in
 * about a second. What changes something is tried until there is a definite answer, or for 23 hours, and not before the
 * time that `Retry-After` asks for. `open` is left as it is.
 *
 * @param closed aborts whatever waits
 */
export function createRetrying(requests: Requests, waker: Waker, closed: Ending): Requests {
  const wait = (ms: number, signal: Ending = closed) => pause(ms, waker, closed, signal);

  return {
    open: requests.open,
    async read(path, init) {
      for (const waitMs of READ_WAITS_MS) {
        try {
          return await requests.read(path, init);
        } catch (error) {
          if (!isPassing(error)) throw error;
          await wait(waitMs * (0.5 + Math.random()), init.signal);
        }
      }
      return requests.read(path, init);
    },
    async send(method, path, body, init) {
      const until = Date.now() + GIVE_UP_AFTER_MS;
      let internals = 0;
      let failures = 0;
      for (let isFirst = true; ; isFirst = false) {
        try {
          return await requests.send(method, path, body, init);
        } catch (error) {
          // An earlier try did it, and its answer was lost.
          if (method === 'DELETE' && !isFirst && isCoded(error, 'not_found')) return {} as never;
          const isInternal = isCoded(error, 'internal');
          if (isInternal) internals += 1;
          if (isInternal ? internals === MAX_INTERNAL : !isPassing(error)) throw error;
          failures += 1;
          const waitMs = Math.max(backoffMs(failures), retryAfterMs(error));
          if (Date.now() + waitMs > until) throw error;
          if (await wait(waitMs, init.signal)) failures = 0;
        }
      }
    },
  };
}

/** Whether trying again may mend it. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof HoldfastError)) return false;
  const { code, status } = error;
  return code === 'unreachable' || code === 'idempotency_in_progress' || PASSING_STATUS.includes(status ?? 0);
}

function isCoded(error: unknown, code: string): boolean {
  return error instanceof HoldfastError && error.code === code;
}
