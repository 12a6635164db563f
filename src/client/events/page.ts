import type { Waker } from '../environment.ts';
import { HoldfastError } from '../error.ts';
import type { LogEvent } from '../event.ts';
import { withQuery } from '../requests/query-string.ts';
import type { Requests } from '../requests/request.ts';
import { placeOf } from './cursor.ts';
import type { Frame } from './frame.ts';
import { createWatch, SUSPICIOUS_MS } from './watch.ts';

/** What of a log is asked for. */
export interface LogQuery {
  /** `/v1/events`, or that of a task or a conversation. */
  path: string;
  /** Empty for all. */
  types: readonly string[];
}

/** A frame read by a request of its own. */
export interface PageFrame extends Frame {
  /** All that was on disk is in it and those before. */
  caughtUp: boolean;
}

interface EventsPage {
  events: LogEvent[];
  cursor: string;
  caughtUp: boolean;
  done: boolean;
}

const LIMIT = 500;

/** Beyond what the server may hold the request: its first line leaves as soon as it has something to say. */
const ANSWER_WITHIN_MS = 10_000;
/** For up to 1 MiB, on a slow line. */
const BODY_WITHIN_MS = 120_000;

export interface PageRequest {
  requests: Requests;
  waker: Waker;
  query: LogQuery;
  after: string | null;
  /** How long the server may hold the request until there is something. */
  waitSeconds: number;
  signal: AbortSignal;
}

/** Reads the next page of a log. A cursor that cannot be served is a `reset` in the frame, never an error. */
export async function readPage({
  requests,
  waker,
  query,
  after,
  waitSeconds,
  signal,
}: PageRequest): Promise<PageFrame> {
  const path = logPath(query, after, { limit: LIMIT, wait: waitSeconds });
  const heldMs = waitSeconds * 1000;
  const watch = createWatch(waker, heldMs + SUSPICIOUS_MS, signal);
  try {
    watch.expect(heldMs + ANSWER_WITHIN_MS);
    const response = await requests.open(path, { accept: 'application/json', signal: watch.signal, ticketed: true });
    watch.expect(BODY_WITHIN_MS);
    const page = (await response.json()) as EventsPage;
    return { from: placeOf(after), to: page.cursor, items: page.events, ended: page.done, caughtUp: page.caughtUp };
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.resumeAfter === null || error.reason === null) throw error;
    const { resumeAfter: id, reason } = error;
    return { from: null, to: id, items: [{ type: 'reset', id, reason }], ended: false, caughtUp: false };
  } finally {
    watch.close();
  }
}

/** The path of a stream, or with `more` of a page. */
export function logPath(query: LogQuery, after: string | null, more: { [name: string]: number } = {}): string {
  const types = query.types.length === 0 ? undefined : query.types.join(',');
  return withQuery(query.path, { after: after ?? undefined, types, ...more });
}
