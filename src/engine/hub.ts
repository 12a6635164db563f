import { failpoint } from '../failpoint.ts';
import { formatCursor } from '../model/cursor.ts';
import { type Event, eventJson } from '../model/event.ts';
import type { Scope } from '../store/store.ts';
import { eventFrame } from './frame.ts';
import type { CommitListener } from './log.ts';

/** Wakes readers, and keeps what was appended last, so that those who keep up need not ask the store. */
export interface Hub {
  /** Calls `ring` after every append to the scope, once for all that came since. It must be cheap and not throw. */
  subscribe(owner: string, scope: Scope, ring: () => void): Subscription;
  /** Takes in what was committed, in the order of the commits. */
  readonly onCommitted: CommitListener;
}

export interface Subscription {
  /** What is known of the scope after `seq`; null when that is further back than the ring reaches. */
  after(seq: number): Recent | null;
  close(): void;
}

/** The events of a scope after a seq, up to `head`: all of them, or as many as are sent at a time. */
export interface Recent {
  head: number;
  /** Whether that is all that is known. */
  isAll: boolean;
  /** Under which all of them were written. */
  epoch: string;
  events: readonly Event[];
  /** All of them as SSE messages; built once for every reader that stands at the same place. */
  frames(): Buffer;
}

/** A ring holds at least so many events, if they are small, and is cut when it reaches twice that … */
const RING_EVENTS = 1024;
/** … or so many bytes. */
const RING_BYTES = 4 * 1024 * 1024;
/** So much is sent at a time, and one event more: a reader that takes little must not make the server keep much for it. */
const STRETCH_BYTES = 256 * 1024;
/** What an event takes beside its data. */
const ENTRY_BYTES = 200;
/** Above so many readers of one topic their wake-ups are gathered for a while, not only for a tick. */
const CROWD = 50;
const CROWD_DELAY_MS = { least: 5, most: 100 };
/** After waking a crowd, so many times as long is left to everything else: it takes a fifth of the thread at most. */
const REST_RATIO = 4;

interface Topic {
  readers: Set<() => void>;
  /** Every event of the topic after this seq is in `entries`. */
  base: number;
  entries: Event[];
  /** About how much memory the entries hold. */
  bytes: number;
  chunk: { after: number; head: number; bytes: Buffer } | null;
}

interface OwnerTopics {
  topics: Map<string, Topic>;
  /** The seq up to which the rings are complete; null before the first publication. */
  head: number | null;
  /** Under which everything in the rings was written. */
  epoch: string;
}

export function createHub(): Hub {
  const owners = new Map<string, OwnerTopics>();
  const few = createRounds((flush) => setImmediate(flush));
  const crowds = createRounds((flush, lastMs) => {
    const { least, most } = CROWD_DELAY_MS;
    setTimeout(flush, Math.min(most, Math.max(least, lastMs * REST_RATIO)));
  });

  function schedule(topic: Topic): void {
    (topic.readers.size <= CROWD ? few : crowds).add(topic);
  }

  function topicOf(owner: string, key: string): Topic {
    const own = owners.get(owner) ?? { topics: new Map(), head: null, epoch: '' };
    owners.set(owner, own);
    const topic = own.topics.get(key) ?? {
      readers: new Set(),
      base: own.head ?? Infinity,
      entries: [],
      bytes: 0,
      chunk: null,
    };
    own.topics.set(key, topic);
    return topic;
  }

  return {
    subscribe(owner, scope, ring) {
      const key = topicKey(scope);
      const topic = topicOf(owner, key);
      topic.readers.add(ring);
      return {
        after(seq) {
          const { head = null, epoch = '' } = owners.get(owner) ?? {};
          if (head === null || seq < topic.base || seq > head) return null;
          return recent(topic, seq, head, epoch);
        },
        close() {
          topic.readers.delete(ring);
          if (topic.readers.size > 0) return;
          const own = owners.get(owner);
          if (own?.topics.get(key) === topic) own.topics.delete(key);
          if (own?.topics.size === 0) owners.delete(owner);
        },
      };
    },

    onCommitted(owner, _calls, { events, epoch, firstSeq }) {
      const own = owners.get(owner);
      const last = events.at(-1);
      if (own === undefined || last === undefined) return;
      // A reader is never given a ring with a hole in it: where a publication is missing, all begin anew.
      const continues = own.head === firstSeq - 1 && own.epoch === epoch;
      if (!continues) for (const topic of own.topics.values()) restart(topic, firstSeq - 1);
      own.head = last.seq;
      own.epoch = epoch;
      let before: Event | null = null;
      let topics: Topic[] = [];
      for (const event of events) {
        if (before === null || event.taskId !== before.taskId || event.taskId === null) {
          topics = keysOf(event).flatMap((key) => own.topics.get(key) ?? []);
          topics.forEach(schedule);
        }
        before = event;
        // Of a deleted conversation nothing else is told any more: the store knows what may be.
        if (event.type === 'conversation.deleted')
          for (const topic of own.topics.values()) restart(topic, event.seq - 1);
        for (const topic of topics) push(topic, event);
      }
    },
  };
}

/** Rings the readers of topics in rounds, so that a reader is woken once for all that came since the last. */
function createRounds(later: (round: () => void, lastMs: number) => void) {
  const rung = new Set<Topic>();
  let scheduled = false;
  let lastMs = 0;

  function round(): void {
    scheduled = false;
    const startedAt = performance.now();
    const topics = [...rung];
    rung.clear();
    failpoint?.('readers-not-woken');
    for (const topic of topics) for (const ring of topic.readers) ring();
    // Node puts off what the readers write to the end of the turn: only then it is known how long they took.
    setImmediate(() => {
      lastMs = performance.now() - startedAt;
    });
  }

  return {
    add(topic: Topic): void {
      rung.add(topic);
      if (scheduled) return;
      scheduled = true;
      later(round, lastMs);
    },
  };
}

function topicKey(scope: Scope): string {
  switch (scope.kind) {
    case 'log':
      return 'log';
    case 'conversation':
      return `conversation ${scope.conversationId}`;
    default:
      return `${scope.kind} ${scope.taskId}`;
  }
}

function keysOf({ taskId, rootId, conversationId }: Event): string[] {
  const keys = conversationId === null ? ['log'] : ['log', `conversation ${conversationId}`];
  if (rootId !== null) keys.push(`root ${rootId}`);
  if (taskId !== rootId) keys.push(`child ${taskId}`);
  return keys;
}

function restart(topic: Topic, base: number): void {
  topic.base = base;
  topic.entries = [];
  topic.bytes = 0;
  topic.chunk = null;
}

function push(topic: Topic, entry: Event): void {
  topic.entries.push(entry);
  topic.bytes += sizeOf(entry);
  if (topic.bytes > RING_BYTES) restart(topic, entry.seq);
  else if (topic.entries.length === 2 * RING_EVENTS) {
    topic.entries = topic.entries.slice(-RING_EVENTS);
    topic.base = (topic.entries[0]?.seq ?? 1) - 1;
    topic.bytes = topic.entries.reduce((sum, each) => sum + sizeOf(each), 0);
  }
}

function sizeOf({ data }: Event): number {
  return data.length + ENTRY_BYTES;
}

/** @param known the seq up to which the topic is complete */
function recent(topic: Topic, after: number, known: number, epoch: string): Recent {
  const { entries } = topic;
  let from = entries.length;
  while (from > 0 && (entries[from - 1]?.seq ?? 0) > after) from--;
  const events: Event[] = [];
  let bytes = 0;
  for (const event of entries.slice(from)) {
    if (bytes >= STRETCH_BYTES) break;
    events.push(event);
    bytes += sizeOf(event);
  }
  const isAll = from + events.length === entries.length;
  const head = isAll ? known : (events.at(-1)?.seq ?? known);
  return {
    head,
    isAll,
    epoch,
    events,
    frames() {
      if (topic.chunk?.after === after && topic.chunk.head === head) return topic.chunk.bytes;
      let text = '';
      for (const event of events) text += eventFrame(formatCursor(epoch, event.seq), eventJson(event));
      const bytes = Buffer.from(text);
      topic.chunk = { after, head, bytes };
      return bytes;
    },
  };
}
