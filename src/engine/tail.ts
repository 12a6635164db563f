import { formatCursor } from '../model/cursor.ts';
import type { ResetReason } from '../model/error.ts';
import { type Event, eventJson } from '../model/event.ts';
import { isTerminal } from '../model/task.ts';
import type { EventPage, Store } from '../store/store.ts';
import { eventFrame } from './frame.ts';
import type { Hub } from './hub.ts';
import {
  cursorAt,
  freshPosition,
  isEndOf,
  isExpired,
  isGone,
  type Position,
  pageCursors,
  plainCursor,
  type Start,
  type Subject,
  subjectNow,
} from './position.ts';

/** What a tail tells its reader. Every `send` returns false when the reader must first take what it has: then call `resume`. */
export interface Sink {
  /** Log events, framed. */
  frames(bytes: Buffer | string): boolean;
  /** All that was on disk when the tail was opened has been sent. */
  caughtUp(cursor: string): boolean;
  /** A hole that cannot be told. The tail goes on after it from `resumeAfter`. */
  reset(reason: ResetReason, resumeAfter: string): boolean;
  /** Finished for good. Nothing follows. */
  end(cursor: string): void;
  /** The store cannot be read. Nothing follows: the reader should come back later, with the cursor that it has. */
  failed(error: unknown): void;
}

export interface TailRequest {
  owner: string;
  subject: Subject;
  start: Exclude<Start, { kind: 'over' }>;
  /** Null passes every type. */
  passes: ((type: string) => boolean) | null;
  /** Frames an event's JSON where the common form does not serve; null for the common one. */
  frame: ((cursor: string, json: string, type: string) => string) | null;
}

/** Catches up from the store, then follows the hub: one loop, so there is no seam to lose an event in. */
export interface Tail {
  /** The reader can take more. */
  resume(): void;
  /** The place up to which everything was sent or filtered out; null when no event moved it since it was last told. */
  movedCursor(): string | null;
  close(): void;
}

const PAGE_EVENTS = 200;

export function openTail(store: Store, hub: Hub, request: TailRequest, sink: Sink): Tail {
  const { owner, passes, frame } = request;
  let { subject } = request;
  let position: Position = request.start.position;
  /** The seq that the reader's own cursor stands at. */
  let told = position.seq;
  let log = store.log(owner);
  /** The seq of the task's terminal event; null while it has none. */
  let endsAt = endOf(subject);
  const openedAt = log.head;
  let caughtUp = false;
  let blocked = false;
  let closed = false;
  let yielding = false;

  const subscription = hub.subscribe(owner, subject.scope, pump);

  function pump(): void {
    if (!closed && !blocked && !yielding) guard(advance);
  }

  /** In a turn of the event loop of its own: a socket may take everything at once, and say so at once, for as long as it likes. */
  function goOnLater(): void {
    if (yielding) return;
    yielding = true;
    setImmediate(() => {
      yielding = false;
      pump();
    });
  }

  /** Whoever wakes the tail is spared what the store throws. */
  function guard(turn: () => void): void {
    try {
      turn();
    } catch (error) {
      close();
      sink.failed(error);
    }
  }

  /** Sends until nothing is left, the reader is full, or a page of the store was sent; then lets others run. */
  function advance(): void {
    const recent = position.until === null ? subscription.after(position.seq) : null;
    if (recent === null) {
      readPage();
      return;
    }
    const common = passes === null && frame === null && recent.events.length > 0;
    send(common ? recent.frames() : framed(recent.events, (seq) => formatCursor(recent.epoch, seq)));
    move(recent.events, recent.head);
    settle();
    if (!recent.isAll && !closed && !blocked) goOnLater();
  }

  function readPage(): void {
    if (isGone(store, owner, subject)) {
      const state = store.log(owner);
      sink.end(plainCursor(state, state.head));
      close();
      return;
    }
    const { until } = position;
    const page = store.snapshot(pageUnlessPruned);
    if (page === null) {
      restart(
        'expired',
        store.snapshot(() => freshPosition(store, owner, subject)),
      );
      return;
    }
    const upTo = until ?? log.head;
    send(framed(page.events, pageCursors(log, until)));
    move(page.events, page.scannedTo);
    const more = page.scannedTo < upTo || until !== null;
    if (until !== null && page.scannedTo >= until) position = { seq: page.scannedTo, until: null };
    settle();
    if (more && !closed && !blocked) goOnLater();
  }

  /** The mark and the events of one instant: what is pruned between two looks would be a hole that nobody tells of. */
  function pageUnlessPruned(): EventPage | null {
    log = store.log(owner);
    subject = subjectNow(store, owner, subject);
    endsAt ??= endOf(subject);
    if (isExpired(subject, log, position)) return null;
    const { seq, until } = position;
    const range = { after: seq, upTo: until ?? log.head, unfinishedAt: until, limit: PAGE_EVENTS };
    return store.readEvents(owner, { scope: subject.scope, ...range });
  }

  function framed(events: readonly Event[], cursorOf: (seq: number) => string): string {
    const write = frame ?? eventFrame;
    let text = '';
    for (const event of events) {
      if (passes === null || passes(event.type)) text += write(cursorOf(event.seq), eventJson(event), event.type);
    }
    return text;
  }

  function send(bytes: Buffer | string): void {
    if (bytes.length > 0) blocked = !sink.frames(bytes);
  }

  function move(events: readonly Event[], scannedTo: number): void {
    told = events.findLast(({ type }) => passes === null || passes(type))?.seq ?? told;
    position = { ...position, seq: scannedTo };
    const last = events.findLast((event) => isEndOf(subject, event));
    if (last !== undefined) endsAt = last.seq;
  }

  /** After each stretch: the end, or the news that the reader has caught up. */
  function settle(): void {
    if (closed) return;
    if (endsAt !== null && position.seq >= endsAt) {
      sink.end(plainCursor(store.log(owner), endsAt));
      close();
      return;
    }
    if (caughtUp || position.until !== null || position.seq < openedAt) return;
    caughtUp = true;
    told = position.seq;
    blocked = !sink.caughtUp(currentCursor()) || blocked;
  }

  /** Tells of a hole, and goes on behind it. */
  function restart(reason: ResetReason, from: Position): void {
    position = from;
    told = from.seq;
    blocked = !sink.reset(reason, currentCursor());
    settle();
    if (!blocked) goOnLater();
  }

  function currentCursor(): string {
    log = store.log(owner);
    return cursorAt(log, position);
  }

  function close(): void {
    closed = true;
    subscription.close();
  }

  const { start } = request;
  if (start.kind === 'reset') guard(() => restart(start.reason, start.position));
  else pump();

  return {
    resume() {
      blocked = false;
      goOnLater();
    },
    movedCursor() {
      if (closed || position.until !== null || position.seq <= told) return null;
      told = position.seq;
      let cursor: string | null = null;
      guard(() => {
        cursor = currentCursor();
      });
      return cursor;
    },
    close,
  };
}

function endOf({ task }: Subject): number | null {
  return task !== null && isTerminal(task.status) ? task.lastSeq : null;
}
