import type { RetryOptions } from '../model/agent.ts';
import { checkOptions } from './known-options.ts';

/** The longest delay of a timer in Node. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** @throws TypeError naming the option that is out of bounds */
export function withRetryDefaults(retry: RetryOptions): Required<RetryOptions> {
  checkOptions('retry', retry, ['attempts', 'baseMs', 'maxMs']);
  const { attempts = 3, baseMs = 500, maxMs = 30_000 } = retry;
  if (!Number.isInteger(attempts) || attempts < 1)
    throw new TypeError('retry.attempts must be a whole number, 1 or more.');
  if (!isDuration(baseMs)) throw new TypeError('retry.baseMs must be a number of milliseconds.');
  if (!isDuration(maxMs)) throw new TypeError('retry.maxMs must be a number of milliseconds.');
  return { attempts, baseMs, maxMs };
}

function isDuration(ms: unknown): boolean {
  return typeof ms === 'number' && ms >= 0 && ms <= MAX_TIMER_MS;
}

/**
 * How long to wait, in ms, after this attempt of a step has failed: at random up to a bound that doubles from attempt to
 * attempt, or as long as the server that refused has asked for. Never throws, whatever the error does when it is read.
 *
 * @returns null when the failure is final: no attempt is left, the error would come again, the server asks for more
 *   than `maxMs`, or the error cannot be read
 */
export function retryDelay(
  error: unknown,
  attempt: number,
  retry: Required<RetryOptions>,
  random = Math.random,
): number | null {
  if (attempt >= retry.attempts) return null;
  try {
    if (!isRetryable(error)) return null;
    const asked = askedDelay(error);
    if (asked !== null) return asked > retry.maxMs ? null : asked;
  } catch {
    return null;
  }
  return Math.round(random() * Math.min(retry.maxMs, retry.baseMs * 2 ** (attempt - 1)));
}

const NETWORK_CODE =
  /^(E(CONN(RESET|REFUSED|ABORTED)|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE|NETUNREACH|NETDOWN|HOSTUNREACH|HOSTDOWN)|UND_ERR_.*)$/;
const MAX_CAUSES = 8;

/**
 * Whether another attempt may end better: not for a request that was refused as wrong, nor for a mistake in the code. (A
 * `fetch` that found no server throws a TypeError too; its cause tells.)
 */
export function isRetryable(error: unknown): boolean {
  const status = field(error, 'status') ?? field(error, 'statusCode');
  if (typeof status === 'number' && status >= 400) return [408, 425, 429].includes(status) || status >= 500;
  if (isNetworkError(error)) return true;
  return ![TypeError, ReferenceError, SyntaxError, RangeError].some((mistake) => error instanceof mistake);
}

function isNetworkError(error: unknown): boolean {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && cause !== undefined; depth++) {
    const code = field(cause, 'code');
    if (typeof code === 'string' && NETWORK_CODE.test(code)) return true;
    cause = field(cause, 'cause');
  }
  return false;
}

/** `Retry-After` in ms, from the error itself or from the headers of the response that it carries. */
function askedDelay(error: unknown): number | null {
  const ms = field(error, 'retryAfterMs');
  if (typeof ms === 'number' && ms >= 0) return ms;
  const response = field(error, 'response');
  for (const headers of [field(error, 'headers'), field(error, 'responseHeaders'), field(response, 'headers')]) {
    const value = header(headers, 'retry-after');
    if (value !== null) return parseRetryAfter(value, Date.now());
  }
  return null;
}

/** @returns ms from `now`; null for what is neither seconds nor a date */
export function parseRetryAfter(value: string, now: number): number | null {
  const delay = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(delay) ? null : Math.max(0, delay);
}

function header(headers: unknown, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  if (typeof headers !== 'object' || headers === null) return null;
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  return entry === undefined ? null : String(entry[1]);
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
