import { eventFrame } from '../../src/engine/frame.ts';
import { createHub, type Hub } from '../../src/engine/hub.ts';
import { createLog, type Log } from '../../src/engine/log.ts';
import { cursorAt, EVERYTHING, type Start, type Subject, startOf, taskSubject } from '../../src/engine/position.ts';
import { openTail, type Sink, type Tail, type TailRequest } from '../../src/engine/tail.ts';
import { parseStartPoint, type StartPoint } from '../../src/model/cursor.ts';
import { eventJson } from '../../src/model/event.ts';
import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { Owner } from '../support/store-owner.ts';

/** A real store in this process, its commits published to a real hub. */
export interface PublishedStore {
  store: Store;
  hub: Hub;
  log: Log;
  /** Commits through the log, as the engine does. */
  ann: Owner;
  /** Commits behind the hub's back, as if the news of it had been lost. */
  unheard: Owner;
}

export const LOG = EVERYTHING;

/** @param dir with one, reads have a connection of their own, so that a commit can come between two of them */
export function openPublishedStore({
  dir = ':memory:',
  now = Date.now,
}: {
  dir?: string;
  now?: () => number;
} = {}): PublishedStore {
  const store = openSqliteStoreInProcess({ dir, now });
  const hub = createHub();
  const onFatal = (error: unknown) => {
    throw error;
  };
  const log = createLog({ store, listeners: [hub.onCommitted], follow: () => null, onFatal });
  const published: Store = { ...store, commit: log.commit };
  return { store, hub, log, ann: new Owner(published, 'ann'), unheard: new Owner(store, 'ann') };
}

/** What a stream of a task is about, as the store has the task now. */
export async function subjectOf(store: Store, taskId: string): Promise<Subject> {
  const task = await store.task('ann', taskId);
  if (task === null) throw new Error(`There is no ${taskId}.`);
  return taskSubject(task);
}

/** @param text what a client sends; null for nothing */
export async function startAt(store: Store, subject: Subject, text: string | null): Promise<Start> {
  const point: StartPoint | null = text === null ? null : parseStartPoint(text);
  if (point === null && text !== null) throw new Error(`${text} is no cursor.`);
  return startOf(store, 'ann', subject, point);
}

/** The frames of a scope between two places, built from the store. */
export async function storedFrames(store: Store, subject: Subject, after: number, upTo?: number): Promise<string> {
  const log = await store.log('ann');
  const last = upTo ?? log.head;
  let text = '';
  for (let seq = after; seq < last; ) {
    const query = { scope: subject.scope, after: seq, upTo: last, unfinishedAt: null, limit: 200 };
    const page = await store.readEvents('ann', query);
    for (const event of page.events) {
      text += eventFrame(cursorAt(log, { seq: event.seq, until: null }), eventJson(event));
    }
    seq = page.scannedTo;
  }
  return text;
}

/** A reader of a tail that writes down all it is told. */
export interface RecordingReader {
  tail: Tail;
  /** All frames in one text. */
  frames(): string;
  seqs(): number[];
  /** What else it was told, as `kind` or `kind reason`, with its cursor. */
  signals: { kind: string; cursor: string | null }[];
  /** How many times it was called. */
  calls: number;
  /** While set, every send is answered with "first let me take what I have". */
  full: boolean;
  /** Settles once the condition holds, which is looked at after each turn of the event loop. */
  until(condition: () => boolean): Promise<void>;
}

/** Opens a tail, and lets it read the first page. */
export async function openReader(
  { store, hub }: Pick<PublishedStore, 'store' | 'hub'>,
  subject: Subject,
  options: {
    from?: string | null;
    passes?: TailRequest['passes'];
    full?: boolean;
    /** It is known where to begin, and nothing was read from there yet. */
    onStart?: () => void;
    onSend?: (reader: RecordingReader) => void;
  } = {},
): Promise<RecordingReader> {
  const start = await startAt(store, subject, options.from ?? null);
  if (start.kind === 'over') throw new Error('There is nothing to read.');
  options.onStart?.();
  let text = '';

  const reader: RecordingReader = {
    tail: { resume() {}, close() {}, movedCursor: () => null },
    frames: () => text,
    seqs: () => [...text.matchAll(/^data: \{"seq":(\d+),/gm)].map(([, seq]) => Number(seq)),
    signals: [],
    calls: 0,
    full: options.full ?? false,
    until,
  };

  function sent(kind: string | null, cursor: string | null): boolean {
    if (kind !== null) reader.signals.push({ kind, cursor });
    reader.calls += 1;
    options.onSend?.(reader);
    return !reader.full;
  }

  const sink: Sink = {
    frames(bytes) {
      text += bytes.toString();
      return sent(null, null);
    },
    caughtUp: (cursor) => sent('caught-up', cursor),
    reset: (reason, cursor) => sent(`reset ${reason}`, cursor),
    end: (cursor) => void sent('end', cursor),
    failed: () => void sent('failed', null),
  };
  const request = { owner: 'ann', subject, start, passes: options.passes ?? null, frame: null };
  reader.tail = openTail(store, hub, request, sink);
  await turn();
  return reader;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Enough turns for everything that is under way in this process, which waits for nothing else. */
export async function allDone(): Promise<void> {
  for (let n = 0; n < 20; n++) await turn();
}
