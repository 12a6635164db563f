import { HoldfastError, type ResetReason } from '../model/error.ts';
import { type Event, eventJson } from '../model/event.ts';
import { isTerminal } from '../model/task.ts';
import type { LogState, Store } from '../store/store.ts';
import { createBell } from './bell.ts';
import type { Hub } from './hub.ts';
import { cursorAt, freshPosition, isEndOf, isExpired, type Position, type Subject, subjectNow } from './position.ts';

/** A stretch of a log as one JSON answer. @see docs/protocol.md §5.6 */
export interface EventsPage {
  /** Each the event's JSON text, with its `id`. */
  events: string[];
  /** The last place that was read, whether or not something there passed. */
  cursor: string;
  caughtUp: boolean;
  /** The end of the stream is in this page or before it. */
  done: boolean;
}

export interface PageRequest {
  owner: string;
  subject: Subject;
  position: Position;
  passes: (type: string) => boolean;
  limit: number;
  /** How long to wait for a first event that passes. */
  waitMs: number;
  /** Any of them ends the reading and the waiting. */
  signals: readonly AbortSignal[];
}

/** What a page holds beside its events takes less than the rest of 1 MiB. */
const MAX_EVENTS_BYTES = 1024 * 1024 - 256;

/**
 * Reads a page, and waits for something to put into it if there is nothing yet.
 *
 * @throws HoldfastError `cursor_gone` when what comes next was pruned meanwhile
 */
export async function readEventsPage(store: Store, hub: Hub, request: PageRequest): Promise<EventsPage> {
  const deadline = performance.now() + request.waitMs;
  const bell = createBell();
  const subscription = hub.subscribe(request.owner, request.subject.scope, bell.ring);
  try {
    let page = await collect(store, request);
    while (page.events.length === 0 && !page.done && !request.signals.some(({ aborted }) => aborted)) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) break;
      await bell.wait(leftMs, request.signals);
      page = await collect(store, { ...request, position: page.position });
    }
    const { events, log, position, caughtUp, done } = page;
    return { events, cursor: cursorAt(log, position), caughtUp, done };
  } finally {
    subscription.close();
  }
}

/** What was collected, the place up to which, and the log as it was then. */
interface Collected {
  events: string[];
  log: LogState;
  position: Position;
  caughtUp: boolean;
  done: boolean;
}

/** Reads what there was when it began. */
async function collect(store: Store, request: PageRequest): Promise<Collected> {
  const { owner, passes } = request;
  let { position } = request;
  let head: number | null = null;
  const events: string[] = [];
  let bytes = 0;
  let hasEnded = false;
  for (;;) {
    const { log, subject, page } = await look(store, request, position, head);
    head ??= log.head;
    if (subject === null) return { events, log, position, caughtUp: true, done: true };
    if (isExpired(subject, log, position)) {
      if (events.length > 0) return { events, log, position, caughtUp: false, done: false };
      const fresh = await store.snapshot((reads) => freshPosition(reads, owner, subject));
      throw cursorGone('expired', cursorAt(fresh.log, fresh.position));
    }
    const { events: read, scannedTo } = page;
    for (const event of read) {
      if (passes(event.type)) {
        const text = withId(cursorAt(log, { seq: event.seq, until: position.until }), event);
        const size = Buffer.byteLength(text) + 1;
        const full = events.length === request.limit || bytes + size > MAX_EVENTS_BYTES;
        if (full && events.length > 0) return { events, log, position, caughtUp: false, done: false };
        events.push(text);
        bytes += size;
      }
      position = { ...position, seq: event.seq };
      hasEnded ||= isEndOf(subject, event);
    }
    position = { ...position, seq: scannedTo };
    if (position.until !== null && scannedTo >= position.until) position = { seq: scannedTo, until: null };
    if (position.until === null && position.seq >= head) {
      const { task } = subject;
      const done = hasEnded || (task !== null && isTerminal(task.status) && position.seq >= task.lastSeq);
      return { events, log, position, caughtUp: true, done };
    }
    await nextTick();
    if (request.signals.some(({ aborted }) => aborted)) return { events, log, position, caughtUp: false, done: false };
  }
}

/**
 * One instant's log, subject and next events; of a subject that is gone, and where some were pruned that a reader at this
 * place has to be told, they are not to be used.
 *
 * @param head where to end; null for the head of the same instant
 */
async function look(store: Store, request: PageRequest, position: Position, head: number | null) {
  const { owner, subject: asked, limit } = request;
  const { seq, until } = position;
  const range = { after: seq, upTo: until ?? head, unfinishedAt: until, limit };
  const [subject, log, page] = await store.snapshot((reads) =>
    Promise.all([
      subjectNow(reads, owner, asked),
      reads.log(owner),
      reads.readEvents(owner, { scope: asked.scope, ...range }),
    ]),
  );
  return { log, subject, page };
}

/** What a page answers in place of events where a stream sends `reset`. */
export function cursorGone(reason: ResetReason, resumeAfter: string): HoldfastError {
  return new HoldfastError('cursor_gone', 'This cursor cannot be served; read the state again.', {
    reason,
    resumeAfter,
  });
}

function withId(cursor: string, event: Event): string {
  return `{"id":"${cursor}",${eventJson(event).slice(1)}`;
}

function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
