import { backoffMs } from '../backoff.ts';
import type { Network, Waker } from '../environment.ts';
import { HoldfastError } from '../error.ts';
import { pause } from '../pause.ts';
import type { Requests } from '../requests/request.ts';
import { retryAfterMs } from '../requests/retry-after.ts';
import type { Report } from './connection-board.ts';
import { placeOf } from './cursor.ts';
import type { Frame } from './frame.ts';
import { createHonestStatus } from './honest-status.ts';
import { type LogQuery, logPath, readPage } from './page.ts';
import { createSseDecoder } from './sse.ts';
import { createWatch, SUSPICIOUS_MS } from './watch.ts';

export interface FollowOptions {
  requests: Requests;
  waker: Waker;
  network: Network;
  query: LogQuery;
  /** False where responses come only as a whole. */
  canStream: boolean;
  /** Null begins where unfinished work began. */
  after: string | null;
  /** Ends it, without an error. */
  signal: AbortSignal;
  report(report: Report): void;
}

/** The server's keepalive is 15 s: after two that did not come the connection is dead, whatever the device says. */
const SILENCE_MS = 35_000;
/** The server's first line leaves at once. What comes later than this is held back somewhere. */
const FIRST_BYTE_MS = 10_000;
/** How long a request for a page is held. */
const POLL_SECONDS = 25;
/** How long streams count as blocked, once they were. */
const POLLING_MS = 5 * 60_000;

/** How an attempt went that did not end it all. */
interface Outcome {
  /** Whether anything came: the next failure is the first again. */
  worked: boolean;
  /** What the server asked for; null where it could not. */
  retryMs: number | null;
  /** Nothing came through, which may be for something that holds streams back. */
  blocked: boolean;
}

const NOTHING: Outcome = { worked: false, retryMs: null, blocked: false };

/**
 * Follows a log for ever, as frames without a hole between them: by a stream, and by long polling where something
 * between here and the server holds streams back.
 *
 * @throws HoldfastError what trying again would not mend: 4xx other than 408 and 429
 */
export async function* followLog(options: FollowOptions): AsyncGenerator<Frame, void, void> {
  const status = createHonestStatus(options.network, options.report);
  try {
    yield* follow({ ...options, report: status.report, onSign: status.onSign });
  } finally {
    status.close();
  }
}

interface Following extends FollowOptions {
  /** Something has come: whatever the device says, there is a network. */
  onSign(): void;
}

async function* follow(options: Following): AsyncGenerator<Frame, void, void> {
  const { signal, report, waker } = options;
  let cursor = options.after;
  let failures = 0;
  let pollUntil = options.canStream ? 0 : Number.POSITIVE_INFINITY;
  let status: 'connecting' | 'reconnecting' = 'connecting';

  while (!signal.aborted) {
    const polling = Date.now() < pollUntil;
    const transport = polling ? 'polling' : 'streaming';
    report({ status, transport });
    const attempt = (polling ? poll : stream)({ ...options, after: cursor }, pollUntil);
    const outcome = yield* told(attempt);
    if (outcome === null) return;
    if (signal.aborted) return;
    status = 'reconnecting';
    failures = outcome.worked ? 0 : failures + 1;
    if (outcome.blocked) pollUntil = Date.now() + POLLING_MS;
    // What a request for a page cannot reach either is no stream that is held back: it is away.
    else if (!outcome.worked && options.canStream) pollUntil = 0;
    const waitMs = outcome.blocked ? 0 : (outcome.retryMs ?? backoffMs(failures + 1));
    if (waitMs === 0) continue;
    report({
      status: options.network.isOnline() ? 'reconnecting' : 'offline',
      retryAt: Date.now() + waitMs,
      transport,
    });
    await pause(waitMs, waker, signal);
  }

  /** Passes on what an attempt tells. Null when that was the end. */
  async function* told(attempt: AsyncGenerator<Frame, Outcome, void>): AsyncGenerator<Frame, Outcome | null, void> {
    try {
      for (;;) {
        const { done, value } = await attempt.next();
        if (done) return value;
        cursor = value.to ?? cursor;
        failures = 0;
        yield value;
        if (value.ended || signal.aborted) return null;
      }
    } catch (error) {
      report({ status: 'refused', code: error instanceof HoldfastError ? error.code : null });
      throw error;
    } finally {
      // Also when nobody wants more of it: what it listens to and holds open goes with it.
      await attempt.return(NOTHING);
    }
  }
}

/** One connection, from its request to its end. */
async function* stream(options: Following): AsyncGenerator<Frame, Outcome, void> {
  const { requests, query, signal, report } = options;
  const watch = createWatch(options.waker, SUSPICIOUS_MS, signal);
  const decoder = createSseDecoder();
  let cursor = options.after;
  let bytes = 0;
  try {
    watch.expect(FIRST_BYTE_MS);
    const response = await requests.open(logPath(query, cursor), {
      accept: 'text/event-stream',
      signal: watch.signal,
      ticketed: true,
    });
    if (response.status === 204) {
      yield { from: cursor, to: cursor, items: [], ended: true };
      return { worked: true, retryMs: null, blocked: false };
    }
    if (!response.headers.get('Content-Type')?.startsWith('text/event-stream')) throw notHoldfast();
    if (!response.body) return { worked: true, retryMs: null, blocked: true };
    report({ status: 'catching-up' });
    const reader = response.body.getReader();
    const text = new TextDecoder();
    for (;;) {
      watch.expect(bytes === 0 ? FIRST_BYTE_MS : SILENCE_MS);
      const { done, value } = await reader.read();
      watch.rest();
      if (done) break;
      options.onSign();
      bytes += value.length;
      const { items, ended } = decoder.decode(text.decode(value, { stream: true }));
      if (items.length === 0 && !ended) continue;
      const from = cursor;
      cursor = items.at(-1)?.id ?? cursor;
      // A reset begins anew: what comes after it does not follow what came before.
      const anew = items.some(({ type }) => type === 'reset');
      if (items.some(({ type }) => type === 'caught-up')) report({ status: 'live' });
      yield { from: anew ? null : placeOf(from), to: cursor, items, ended };
    }
    return { worked: true, retryMs: decoder.retryMs, blocked: false };
  } catch (error) {
    if (isDefinite(error)) throw error;
    return { worked: bytes > 0, retryMs: retryAfterMs(error) || null, blocked: bytes === 0 && watch.isOverdue };
  } finally {
    watch.close();
  }
}

/** Long polling, until streams are worth another attempt or a request fails. */
async function* poll(options: Following, until: number): AsyncGenerator<Frame, Outcome, void> {
  const { report } = options;
  let after = options.after;
  let isCaughtUp = false;
  try {
    while (Date.now() < until) {
      const waitSeconds = isCaughtUp ? POLL_SECONDS : 0;
      const { caughtUp, ...frame } = await readPage({ ...options, after, waitSeconds });
      options.onSign();
      if (caughtUp && !isCaughtUp && frame.to !== null) frame.items.push({ type: 'caught-up', id: frame.to });
      isCaughtUp = caughtUp;
      after = frame.to;
      report({ status: caughtUp ? 'live' : 'catching-up', transport: 'polling' });
      yield frame;
    }
    return { worked: true, retryMs: 0, blocked: false };
  } catch (error) {
    if (isDefinite(error)) throw error;
    return { worked: isCaughtUp, retryMs: retryAfterMs(error) || null, blocked: false };
  }
}

/** Whether trying again would not mend it. */
export function isDefinite(error: unknown): boolean {
  if (!(error instanceof HoldfastError)) return false;
  const { status, code } = error;
  return code !== 'unreachable' && status !== null && status >= 400 && status < 500 && status !== 408 && status !== 429;
}

function notHoldfast(): HoldfastError {
  return new HoldfastError('unreachable', 'Something that is not Holdfast has answered.');
}
