import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { z } from 'zod';
import type { Start, Subject } from '../engine/position.ts';
import type { Streams } from '../engine/streams.ts';
import type { Tail } from '../engine/tail.ts';
import { HoldfastError } from '../model/error.ts';
import { type AskedStart, askedStart, askedTypes, prefersJson } from './event-request.ts';
import type { OpenStreams } from './open-streams.ts';
import type { HttpContext, Operation } from './operation.ts';
import { byeBlock, caughtUpBlock, endBlock, openSse, resetBlock, SSE_HEADERS } from './sse.ts';

export interface EventDependencies {
  streams: Streams;
  open: OpenStreams;
  owner(c: HttpContext): string;
  /** Told why a stream could not be read: its client only learns that it should come back. */
  onTrouble?: (error: unknown) => void;
}

interface Reading {
  owner: string;
  /** @throws HoldfastError `not_found` */
  subject(): Subject;
  asked: AskedStart;
  passes: ((type: string) => boolean) | null;
  url: URLSearchParams;
}

/** How often a filtered stream is told that its place has moved though nothing passed. */
const MOVED_EVERY_MS = 60_000;
const MAX_PAGE_EVENTS = 1000;
const DEFAULT_PAGE_EVENTS = 100;
const MAX_WAIT_SECONDS = 60;

const eventsQuery = z.object({
  after: z.string().optional(),
  types: z.string().optional(),
  event: z.literal('type').optional(),
  limit: z.coerce.number().int().min(1).max(MAX_PAGE_EVENTS).default(DEFAULT_PAGE_EVENTS),
  wait: z.coerce.number().min(0).max(MAX_WAIT_SECONDS).default(0),
});

/** The event streams of a task and of everything, live or by the page. @see docs/protocol.md §5 */
export function eventOperations({ streams, open, owner }: EventDependencies): Operation[] {
  async function serve(c: HttpContext, who: string, subject: () => Subject): Promise<Response> {
    const json = prefersJson(c.req.header('Accept'));
    // What is unknown comes before what is malformed.
    if (json) subject();
    const url = new URL(c.req.url).searchParams;
    const reading = {
      owner: who,
      subject,
      asked: askedStart(c.req.header('Last-Event-ID'), url),
      passes: askedTypes(url),
      url,
    };
    if (prefersJson(c.req.header('Accept'))) return page(c, reading);
    c.set('untimed', true);
    return stream(c, reading);
  }

  async function page(c: HttpContext, reading: Reading): Promise<Response> {
    const { owner: who, subject, asked } = reading;
    const limits = pageLimits(reading.url);
    if (limits.waitMs > 0) c.set('untimed', true);
    const start = streams.startOf(who, subject, asked.point);
    const cursor = streams.cursorAt(who, start.position);
    c.header('Cache-Control', 'no-store');
    if (start.kind === 'reset') {
      throw new HoldfastError('cursor_gone', 'This cursor cannot be served; read the state again.', {
        reason: start.reason,
        resumeAfter: cursor,
      });
    }
    if (start.kind === 'over') return c.json({ events: [], cursor, caughtUp: true, done: true });
    const passes = reading.passes ?? (() => true);
    const { signal } = c.req.raw;
    const read = await streams.page({ owner: who, subject, position: start.position, passes, ...limits, signal });
    const rest = JSON.stringify({ cursor: read.cursor, caughtUp: read.caughtUp, done: read.done }).slice(1);
    return c.body(`{"events":[${read.events.join(',')}],${rest}`, 200, { 'Content-Type': 'application/json' });
  }

  function stream(c: HttpContext, reading: Reading): Response {
    const { owner: who, subject, asked, passes, url } = reading;
    const start = startOrNull(reading);
    if (start?.kind === 'over') return c.body(null, 204, { 'Cache-Control': 'no-store' });
    if (c.req.method === 'HEAD') return c.body(null, 200, SSE_HEADERS);
    const named = url.get('event') === 'type';

    let tail: Tail | null = null;
    let movedAt = performance.now();
    const connection = openSse(c.env.outgoing, {
      onWritable: () => tail?.resume(),
      onMaxAge: () => connection.finish(byeBlock('max-age')),
      onClose() {
        tail?.close();
        open.delete(connection);
      },
      onKeepalive() {
        if (performance.now() - movedAt < MOVED_EVERY_MS) return;
        const cursor = tail?.movedCursor() ?? null;
        if (cursor === null) return;
        movedAt = performance.now();
        connection.write(caughtUpBlock(cursor));
      },
    });
    if (!connection.isOpen) return RESPONSE_ALREADY_SENT;
    open.add(connection);
    if (start === null || open.closing !== null) {
      connection.finish(byeBlock(open.closing ?? 'overloaded'));
      return RESPONSE_ALREADY_SENT;
    }
    const frame = named ? namedFrame : null;
    tail = streams.open(
      { owner: who, subject, start, passes, frame },
      {
        frames: (bytes) => connection.write(bytes),
        caughtUp: (cursor) => connection.write(caughtUpBlock(cursor)),
        reset: (reason, resumeAfter) => connection.write(resetBlock(reason, asked.text, resumeAfter)),
        end: (cursor) => connection.finish(endBlock(cursor)),
      },
    );
    // It may have come to its end, or its reader gone, while it was being opened.
    if (!connection.isOpen) tail.close();
    return RESPONSE_ALREADY_SENT;
  }

  /** Null when the server itself is in trouble: `EventSource` would give up for ever on a 5xx. */
  function startOrNull({ owner: who, subject, asked }: Reading): Start | null {
    try {
      return streams.startOf(who, subject, asked.point);
    } catch (error) {
      if (error instanceof HoldfastError) throw error;
      return null;
    }
  }

  const shared = {
    method: 'get',
    query: eventsQuery,
    answers: {
      200: {
        description: 'The events after the cursor, live, or by the page with `Accept: application/json`.',
        type: 'text/event-stream',
      },
      204: { description: 'Everything, its end included, was told before the cursor.' },
    },
    errors: ['invalid_request', 'not_found', 'cursor_gone'],
  } as const;

  return [
    {
      ...shared,
      id: 'streamTaskEvents',
      path: '/v1/tasks/{taskId}/events',
      summary: 'Events of one task',
      handle(c) {
        const who = owner(c);
        return serve(c, streams.ofTask(who, c.req.param('taskId') ?? ''), who);
      },
    },
    {
      ...shared,
      id: 'streamEvents',
      path: '/v1/events',
      summary: 'Everything of the caller',
      handle: (c) => serve(c, streams.ofOwner(), owner(c)),
    },
  ];
}

function namedFrame(cursor: string, json: string, type: string): string {
  return `event: ${type}\nid: ${cursor}\ndata: ${json}\n\n`;
}

function pageLimits(url: URLSearchParams): { limit: number; waitMs: number } {
  const parsed = eventsQuery.pick({ limit: true, wait: true }).safeParse(Object.fromEntries(url));
  if (!parsed.success) {
    const errors = parsed.error.issues.map(({ path, message }) => ({ path: path.join('/'), message }));
    throw new HoldfastError('invalid_request', 'The query is not valid.', { errors });
  }
  return { limit: parsed.data.limit, waitMs: parsed.data.wait * 1000 };
}
