import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { z } from 'zod';
import type { Access } from '../access/access.ts';
import { eventFrame } from '../engine/frame.ts';
import { cursorGone } from '../engine/pages.ts';
import type { Start, Subject } from '../engine/position.ts';
import { asUnavailable } from '../engine/refusal.ts';
import type { Streams } from '../engine/streams.ts';
import type { Tail } from '../engine/tail.ts';
import type { TicketSubject } from '../model/access.ts';
import { HoldfastError } from '../model/error.ts';
import { type AskedStart, askedStart, askedTypes, prefersJson } from './event-request.ts';
import type { HeldOpen } from './held-open.ts';
import type { OpenStreams } from './open-streams.ts';
import { type HttpContext, type Operation, ownerOf, type StreamRules } from './operation.ts';
import { decimal, once, readQuery } from './query.ts';
import { byeBlock, caughtUpBlock, endBlock, IDLE, openSse, resetBlock, SSE_HEADERS } from './sse.ts';
import { whileConnected } from './while-connected.ts';

export interface EventDependencies {
  streams: Streams;
  open: OpenStreams;
  held: HeldOpen;
  /** Watches whether who reads may still. */
  hold: Access['hold'];
  /** Told why a stream could not be read: its client only learns that it should come back. */
  onTrouble(error: unknown): void;
}

interface Reading {
  owner: string;
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
  limit: once(z.int().min(1).max(MAX_PAGE_EVENTS).default(DEFAULT_PAGE_EVENTS), decimal),
  wait: once(z.number().min(0).max(MAX_WAIT_SECONDS).default(0), decimal),
});

/** The event streams of a task, of a conversation and of everything, live or by the page. @see docs/protocol.md §5 */
export function eventOperations({ streams, open, held, hold, onTrouble }: EventDependencies): Operation[] {
  /** What is unknown comes before what is malformed. */
  async function serve(c: HttpContext, who: string, subjectOf: () => Promise<Subject>): Promise<Response> {
    if (prefersJson(c.req.header('Accept'))) return pageOrOverload(c, subjectOf, who);
    c.set('untimed', true);
    const subject = await orNull(subjectOf());
    const reading = readingOf(c, who);
    return stream(c, subject, subject && (await orNull(streams.startOf(who, subject, reading.asked.point))), reading);
  }

  /** A page can say with a status what a stream must not. */
  async function pageOrOverload(c: HttpContext, subjectOf: () => Promise<Subject>, who: string): Promise<Response> {
    try {
      return await page(c, await subjectOf(), readingOf(c, who));
    } catch (thrown) {
      const error = asUnavailable(thrown) ?? thrown;
      if (error instanceof HoldfastError) throw error;
      onTrouble(error);
      throw new HoldfastError('overloaded', 'The events cannot be read at the moment.');
    }
  }

  async function page(c: HttpContext, subject: Subject, reading: Reading): Promise<Response> {
    const { owner: who, asked } = reading;
    const limits = pageLimits(c);
    if (limits.waitMs > 0) c.set('untimed', true);
    const start = await streams.startOf(who, subject, asked.point);
    c.header('Cache-Control', 'no-store');
    if (start.kind !== 'at') {
      const cursor = await streams.cursorAt(who, start.position);
      if (start.kind === 'reset') throw cursorGone(start.reason, cursor);
      return c.json({ events: [], cursor, caughtUp: true, done: true });
    }
    const passes = reading.passes ?? (() => true);
    const leave = limits.waitMs > 0 ? held.enter(who, 'wait') : () => {};
    if (leave === null) throw new HoldfastError('overloaded', 'Too many requests wait already.');
    // A ticket stays good for who polls with it, as for who streams.
    const release = hold(c.get('principal'), () => {});
    const asking = { owner: who, subject, position: start.position, passes, ...limits };
    const read = await whileConnected(c, (signal) => streams.page({ ...asking, signal })).finally(() => {
      leave();
      release();
    });
    const rest = JSON.stringify({ cursor: read.cursor, caughtUp: read.caughtUp, done: read.done }).slice(1);
    return c.body(`{"events":[${read.events.join(',')}],${rest}`, 200, { 'Content-Type': 'application/json' });
  }

  /** @param subject null when it could not be read, as `start` is */
  function stream(c: HttpContext, subject: Subject | null, start: Start | null, reading: Reading): Response {
    const { owner: who, asked, passes, url } = reading;
    if (start?.kind === 'over') return c.body(null, 204, { 'Cache-Control': 'no-store' });
    if (c.req.method === 'HEAD') return c.body(null, 200, SSE_HEADERS);
    const named = url.get('event') === 'type';

    let tail: Tail | null = null;
    let movedAt = performance.now();
    let release = () => {};
    const connection = openSse(c.env.outgoing, c.get('always') ?? {}, {
      onWritable: () => tail?.resume(),
      onMaxAge: () => connection.finish(byeBlock('max-age')),
      onClose() {
        tail?.close();
        release();
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
    const leave = held.enter(who, 'stream');
    if (leave !== null) release = leave;
    if (leave === null || subject === null || start === null || open.closing !== null) {
      connection.finish(byeBlock(open.closing ?? 'overloaded'));
      return RESPONSE_ALREADY_SENT;
    }
    const unwatch = hold(c.get('principal'), () => connection.finish(byeBlock('auth-expired')));
    release = () => {
      leave();
      unwatch();
    };
    const frame = named ? namedFrame : null;
    tail = streams.open(
      { owner: who, subject, start, passes, frame },
      {
        frames: (bytes) => connection.write(bytes),
        caughtUp: (cursor) => connection.write(caughtUpBlock(cursor)),
        reset: (reason, resumeAfter) => connection.write(resetBlock(reason, asked.text, resumeAfter)),
        end: (cursor) => connection.finish(endBlock(cursor)),
        failed(error) {
          onTrouble(error);
          connection.finish(byeBlock('overloaded'));
        },
      },
    );
    // It may have come to its end, or its reader gone, while it was being opened.
    if (!connection.isOpen) tail.close();
    return RESPONSE_ALREADY_SENT;
  }

  /** Null when the server itself is in trouble: `EventSource` would give up for ever on a 5xx. */
  function orNull<T>(read: Promise<T>): Promise<T | null> {
    return read.catch((error: unknown) => {
      if (error instanceof HoldfastError) throw error;
      onTrouble(error);
      return null;
    });
  }

  /** Says that the client should come back, and when: for what is the server's own trouble. */
  function comeBack(c: HttpContext): Response {
    c.set('untimed', true);
    if (c.req.method === 'HEAD') return c.body(null, 200, SSE_HEADERS);
    const connection = openSse(c.env.outgoing, c.get('always') ?? {}, IDLE);
    connection.finish(byeBlock('overloaded'));
    return RESPONSE_ALREADY_SENT;
  }

  function streamOf(subject: (c: HttpContext) => Partial<TicketSubject>): StreamRules {
    return { subject: (c) => ({ taskId: null, conversationId: null, ...subject(c) }), comeBack };
  }

  const shared = {
    method: 'get',
    access: 'tasks:read',
    query: eventsQuery,
    answers: {
      200: {
        description: 'The events after the cursor, live, or by the page with `Accept: application/json`.',
        type: 'text/event-stream',
      },
      204: { description: 'Everything, its end included, was told before the cursor.' },
    },
    errors: ['invalid_request', 'not_found', 'cursor_gone', 'overloaded'],
  } as const;

  return [
    {
      ...shared,
      id: 'streamTaskEvents',
      path: '/v1/tasks/{taskId}/events',
      stream: streamOf((c) => ({ taskId: c.req.param('taskId') ?? null })),
      summary: 'Events of one task',
      handle(c) {
        const who = ownerOf(c);
        return serve(c, who, () => streams.ofTask(who, c.req.param('taskId') ?? ''));
      },
    },
    {
      ...shared,
      id: 'streamConversationEvents',
      path: '/v1/conversations/{conversationId}/events',
      stream: streamOf((c) => ({ conversationId: c.req.param('conversationId') ?? null })),
      summary: 'Events of all tasks of one conversation',
      handle(c) {
        const who = ownerOf(c);
        return serve(c, who, () => streams.ofConversation(who, c.req.param('conversationId') ?? ''));
      },
    },
    {
      ...shared,
      id: 'streamEvents',
      path: '/v1/events',
      stream: streamOf(() => ({})),
      summary: 'Everything of the caller',
      handle: (c) => serve(c, ownerOf(c), streams.ofOwner),
    },
  ];
}

function namedFrame(cursor: string, json: string, type: string): string {
  return `event: ${type}\n${eventFrame(cursor, json)}`;
}

function readingOf(c: HttpContext, owner: string): Reading {
  const url = new URL(c.req.url).searchParams;
  return { owner, asked: askedStart(c.req.header('Last-Event-ID'), url), passes: askedTypes(url), url };
}

/** HEAD holds nothing open, so it waits for nothing either. */
function pageLimits(c: HttpContext): { limit: number; waitMs: number } {
  const { limit, wait } = readQuery(c, eventsQuery.pick({ limit: true, wait: true }));
  return { limit, waitMs: c.req.method === 'HEAD' ? 0 : wait * 1000 };
}
