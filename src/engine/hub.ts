import { failpoint } from '../failpoint.ts';
import { type EpochRow, epochAt } from '../model/epoch.ts';
import type { Event } from '../model/event.ts';
import type { LogState, Scope } from '../store/store.ts';
import { groupBy } from './group-by.ts';
import type { CommitListener } from './log.ts';
import { createRing, push, type Recent, type Ring, recent, restart } from './ring.ts';

/** Wakes readers, and keeps what was appended last, so that those who keep up need not ask the store. */
export interface Hub {
  /** Calls `ring` after every append to the scope, once for all that came since. It must be cheap and not throw. */
  subscribe(owner: string, scope: Scope, ring: () => void): Subscription;
  /** Takes in what was committed, in the order of the commits. */
  readonly onCommitted: CommitListener;
  /** Those whose logs are read. */
  owners(): Iterable<string>;
  has(owner: string): boolean;
  /** Up to where what is kept of an owner's log is complete; null while nothing of it is. */
  head(owner: string): number | null;
  /** Under which its newest was written; '' while nothing is kept. */
  epoch(owner: string): string;
  /** Takes in what was read of a log, since others had written there. */
  onRead(owner: string, stretch: Stretch): void;
  /** Forgets what is kept of a log, and begins anew at its head: the readers read on from the store, each by itself. */
  beginAnew(owner: string, log: LogState): void;
}

export interface Subscription {
  /** What is known of the scope after `seq`; null when that is further back than the ring reaches. */
  after(seq: number): Recent | null;
  close(): void;
}

/** All events of a log after a seq, up to `scannedTo`. */
export interface Stretch {
  after: number;
  scannedTo: number;
  events: readonly Event[];
  /** The log's. */
  epochs: readonly EpochRow[];
}

export interface HubOptions {
  /**
   * Whether others write in the same logs. Then a commit that does not follow what is known is left to {@link Hub.onRead};
   * else all rings begin anew with it. Default false.
   */
  isShared?: boolean;
}

/** Above so many readers of one topic their wake-ups are gathered for a while, not only for a tick. */
const CROWD = 50;
const CROWD_DELAY_MS = { least: 5, most: 100 };
/** After waking a crowd, so many times as long is left to everything else: it takes a fifth of the thread at most. */
const REST_RATIO = 4;

interface Topic {
  readers: Set<() => void>;
  ring: Ring;
}

interface OwnerTopics {
  topics: Map<string, Topic>;
  /** The seq up to which the rings are complete; null before the first publication. */
  head: number | null;
  /** Under which everything in the rings was written. */
  epoch: string;
}

export function createHub({ isShared = false }: HubOptions = {}): Hub {
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
    const topic = own.topics.get(key) ?? { readers: new Set(), ring: createRing(own.head ?? Infinity) };
    own.topics.set(key, topic);
    return topic;
  }

  /** Everything that is to be told under an epoch is told from this seq on. */
  function restartAll(own: OwnerTopics, base: number, epoch: string): void {
    for (const { ring } of own.topics.values()) restart(ring, base);
    own.head = base;
    own.epoch = epoch;
  }

  /** @param events those after the rings' head, written under their epoch */
  function publish(own: OwnerTopics, events: readonly Event[]): void {
    let before: Event | null = null;
    let topics: Topic[] = [];
    for (const event of events) {
      if (before === null || event.taskId !== before.taskId || event.taskId === null) {
        topics = keysOf(event).flatMap((key) => own.topics.get(key) ?? []);
        topics.forEach(schedule);
      }
      before = event;
      // Of a deleted conversation nothing else is told any more: the store knows what may be, and whose stream is over.
      if (event.type === 'conversation.deleted') {
        for (const topic of own.topics.values()) {
          restart(topic.ring, event.seq - 1);
          schedule(topic);
        }
      }
      for (const { ring } of topics) push(ring, event);
      own.head = event.seq;
    }
  }

  return {
    subscribe(owner, scope, ring) {
      const key = topicKey(scope);
      const topic = topicOf(owner, key);
      topic.readers.add(ring);
      return {
        after(seq) {
          const { head = null, epoch = '' } = owners.get(owner) ?? {};
          if (head === null || seq < topic.ring.base || seq > head) return null;
          return recent(topic.ring, seq, head, epoch);
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
      if (own === undefined || events.length === 0) return;
      const known = isShared ? own.head : null;
      // A reader is never given a ring with a hole in it.
      if (known !== null && known < firstSeq - 1) return;
      const news = known === null ? events : events.filter(({ seq }) => seq > known);
      const base = (news[0]?.seq ?? 0) - 1;
      if (news.length > 0 && (own.head !== base || own.epoch !== epoch)) restartAll(own, base, epoch);
      publish(own, news);
    },

    owners: () => owners.keys(),
    has: (owner) => owners.has(owner),
    head: (owner) => owners.get(owner)?.head ?? null,
    epoch: (owner) => owners.get(owner)?.epoch ?? '',

    onRead(owner, { after, scannedTo, events, epochs }) {
      const own = owners.get(owner);
      if (own === undefined || own.head === null || after > own.head) return;
      const known = own.head;
      const news = events.filter(({ seq }) => seq > known);
      for (const [epoch, part] of groupBy(news, ({ seq }) => epochAt(epochs, seq) ?? '')) {
        if (own.epoch !== epoch) restartAll(own, (part[0]?.seq ?? 0) - 1, epoch);
        publish(own, part);
      }
      if (scannedTo <= known) return;
      const epoch = epochAt(epochs, scannedTo) ?? '';
      if (own.epoch !== epoch) restartAll(own, scannedTo, epoch);
      own.head = scannedTo;
    },

    beginAnew(owner, log) {
      const own = owners.get(owner);
      if (own === undefined) return;
      restartAll(own, log.head, epochAt(log.epochs, log.head) ?? '');
      for (const topic of own.topics.values()) schedule(topic);
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
