import { formatCursor } from '../model/cursor.ts';
import { epochAt, judgeCursor } from '../model/epoch.ts';
import type { ResetReason } from '../model/error.ts';
import { type Event, eventJson } from '../model/event.ts';
import { isTerminal } from '../model/task.ts';
import type { EventPage, LogState, Store } from '../store/store.ts';
import { eventFrame } from './frame.ts';
import type { Hub } from './hub.ts';
import {
  cursorAt,
  freshPosition,
  isEndOf,
  isExpired,
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
  /** Under which the place was told, outside of any retelling: null in an empty log, undefined before the first read. */
  let epoch: string | null | undefined;
  /** Mints the cursor for a place in what was read last, outside of any retelling. */
  let mint = (seq: number) => formatCursor(null, seq);
  /** The seq of the task's terminal event; null while it has none. */
  let endsAt = endOf(subject);
  /** How far the log went when it was first read; null before. */
  let openedAt: number | null = null;
  let caughtUp = false;
  let blocked = false;
  let closed = false;
  let yielding = false;
  /** `rung`: something has come that the read under way may not have seen. */
  let reading: 'no' | 'once' | 'rung' = 'no';

  const subscription = hub.subscribe(owner, subject.scope, pump);

  function pump(): void {
    if (reading !== 'no') reading = 'rung';
    else if (!closed && !blocked && !yielding) guard(advance);
  }

  /** In a turn of the event loop of its own: a socket may take everything at once, and say so at once, for as long as it likes. */
  function goOnLater(): void {
    if (yielding || closed || blocked) return;
    yielding = true;
    setImmediate(() => {
      yielding = false;
      pump();
    });
  }

  /** Whoever wakes the tail is spared what goes wrong. */
  function guard(turn: () => void): void {
    try {
      turn();
    } catch (error) {
      fail(error);
    }
  }

  function fail(error: unknown): void {
    if (closed) return;
    close();
    sink.failed(error);
  }

  /** Sends until nothing is left, the reader is full, or a page of the store was sent; then lets others run. */
  function advance(): void {
    // At first the store is asked: of what it has the hub may not have heard yet.
    const recent = openedAt === null || position.until !== null ? null : subscription.after(position.seq);
    // Where another epoch has begun, the store tells whether what was told before is still part of the log.
    if (recent === null || recent.epoch !== epoch) {
      read(readPage);
      return;
    }
    mint = (seq) => formatCursor(recent.epoch, seq);
    const common = passes === null && frame === null && recent.events.length > 0;
    send(common ? recent.frames() : framed(recent.events, mint));
    move(recent.events, recent.head);
    settle();
    if (!recent.isAll) goOnLater();
  }

  /** One read at a time. What comes meanwhile is looked for behind it. */
  function read(readAndSend: () => Promise<void>): void {
    reading = 'once';
    readAndSend()
      .catch(fail)
      .then(() => {
        const rung = reading === 'rung';
        reading = 'no';
        if (rung) goOnLater();
      });
  }

  async function readPage(): Promise<void> {
    const { log, now, page } = await look();
    if (closed) return;
    mint = (seq) => plainCursor(log, seq);
    openedAt ??= log.head;
    if (now === null) {
      finish(log.head);
      return;
    }
    subject = now;
    endsAt ??= endOf(subject);
    const reason = whyLost(now, log);
    if (reason === null) {
      sendPage(page, log);
      return;
    }
    const fresh = await store.snapshot((reads) => freshPosition(reads, owner, now));
    if (!closed) restart(reason, fresh.position, fresh.log);
  }

  /** Why the reader cannot be told the rest from its place on: a database that has lost something goes on behind it. */
  function whyLost(now: Subject, log: LogState): ResetReason | null {
    const { seq, until } = position;
    const verdict = until === null && epoch ? judgeCursor(log.epochs, log.head, { epoch, seq, until }) : 'valid';
    if (verdict !== 'valid') return verdict;
    return isExpired(now, log, position) ? 'expired' : null;
  }

  /** All of one instant: what is pruned between two looks would be a hole that nobody tells of. */
  async function look() {
    const { seq, until } = position;
    const range = { after: seq, upTo: until, unfinishedAt: until, limit: PAGE_EVENTS };
    const [now, log, page] = await store.snapshot((reads) =>
      Promise.all([
        subjectNow(reads, owner, subject),
        reads.log(owner),
        reads.readEvents(owner, { scope: subject.scope, ...range }),
      ]),
    );
    return { now, log, page };
  }

  function sendPage({ events, scannedTo }: EventPage, log: LogState): void {
    const { until } = position;
    send(framed(events, pageCursors(log, until)));
    move(events, scannedTo);
    const more = scannedTo < (until ?? log.head) || until !== null;
    if (until !== null && scannedTo >= until) position = { seq: scannedTo, until: null };
    epoch = epochAt(log.epochs, position.seq);
    settle();
    if (more) goOnLater();
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
      finish(endsAt);
      return;
    }
    if (caughtUp || openedAt === null || position.until !== null || position.seq < openedAt) return;
    caughtUp = true;
    told = position.seq;
    blocked = !sink.caughtUp(mint(position.seq)) || blocked;
  }

  async function readFrom({ reason, position: from }: Start & { kind: 'reset' }): Promise<void> {
    const log = await store.log(owner);
    if (closed) return;
    openedAt = log.head;
    restart(reason, from, log);
  }

  /** Tells of a hole, and goes on behind it. */
  function restart(reason: ResetReason, from: Position, log: LogState): void {
    position = from;
    told = from.seq;
    epoch = epochAt(log.epochs, from.seq);
    mint = (seq) => plainCursor(log, seq);
    blocked = !sink.reset(reason, cursorAt(log, from));
    settle();
    goOnLater();
  }

  function finish(seq: number): void {
    sink.end(mint(seq));
    close();
  }

  function close(): void {
    closed = true;
    subscription.close();
  }

  const { start } = request;
  if (start.kind === 'reset') read(() => readFrom(start));
  else pump();

  return {
    resume() {
      blocked = false;
      goOnLater();
    },
    movedCursor() {
      if (closed || position.until !== null || position.seq <= told) return null;
      told = position.seq;
      return mint(told);
    },
    close,
  };
}

function endOf({ task }: Subject): number | null {
  return task !== null && isTerminal(task.status) ? task.lastSeq : null;
}
