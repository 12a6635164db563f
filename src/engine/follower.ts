import { judgeCursor } from '../model/epoch.ts';
import type { Cluster } from '../store/cluster.ts';
import type { LogState, Store } from '../store/store.ts';
import type { CatchingUp } from './catching-up.ts';
import type { Copies } from './copies.ts';
import type { Hub } from './hub.ts';
import type { CommitListener } from './log.ts';
import { createOneAtATime } from './one-at-a-time.ts';
import { unlessFull } from './refusal.ts';

/**
 * Follows what other processes write in the logs that are read here, and of the tasks whose copies are here: told of it, or
 * by looking from time to time.
 */
export interface Follower {
  /** Others may have written for these owners; for any when null. */
  onForeign(owners: ReadonlySet<string> | null): void;
  /** Sees by the places of this process's own commits what others have written between. */
  readonly onCommitted: CommitListener;
  /** Copies of an owner must learn what others have written. */
  catchUp(owner: string): void;
  /** One look: for what nobody has told of. */
  tick(): Promise<void>;
  start(): void;
  stop(): void;
}

const LOOK_EVERY_MS = 1000;
const PAGE_EVENTS = 200;
/** Of a log that is further ahead than so many pages, each reader reads as much as it can take. */
const MAX_PAGES = 5;
/**
 * What a sleep comes to while its task runs is in no log: so many owners with running copies are looked at each time,
 * others the next.
 */
const OWNERS_AT_ONCE = 20;

export interface FollowerOptions {
  store: Pick<Store, 'snapshot'>;
  cluster: Pick<Cluster, 'heads'>;
  hub: Pick<Hub, 'owners' | 'has' | 'head' | 'epoch' | 'onRead' | 'beginAnew'>;
  copies: Pick<Copies, 'owners' | 'has' | 'busy'>;
  catchingUp: CatchingUp;
  /** There may be something to do that another process has written of. */
  onNews(): void;
  onFatal(error: unknown): void;
}

export function createFollower(options: FollowerOptions): Follower {
  const { store, cluster, hub, copies, catchingUp, onNews, onFatal } = options;
  const logs = createOneAtATime(readOn, onFatal);
  const states = createOneAtATime(catchingUp.read, onFatal);
  /** Up to where the copies of an owner were told of its log, or are being told. */
  const seen = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;
  let turn = 0;

  /** Reads a log on from what the hub knows of it, once for all its readers. */
  async function readOn(owner: string): Promise<void> {
    for (let pages = 1; hub.has(owner); pages++) {
      const after = hub.head(owner);
      const [log, page] = await store.snapshot((reads) => {
        const range = { after: after ?? 0, upTo: null, unfinishedAt: null, limit: PAGE_EVENTS };
        const read = after === null ? null : reads.readEvents(owner, { scope: { kind: 'log' }, ...range });
        return Promise.all([reads.log(owner), read]);
      });
      // What was pruned meanwhile is a hole, of which each reader has to be told by itself.
      if (after === null || page === null || log.prunedSeq > after || pages > MAX_PAGES || isLost(owner, after, log)) {
        hub.beginAnew(owner, log);
        return;
      }
      hub.onRead(owner, { after, ...page, epochs: log.epochs });
      if (page.scannedTo >= log.head) return;
    }
  }

  /** Whether what the hub has told is no part of the log any more. */
  function isLost(owner: string, seq: number, { epochs, head }: LogState): boolean {
    return judgeCursor(epochs, head, { epoch: hub.epoch(owner), seq, until: null }) !== 'valid';
  }

  function look(owner: string): void {
    if (hub.has(owner)) logs.ask(owner);
    if (copies.has(owner)) states.ask(owner);
  }

  function ofInterest(): Set<string> {
    return new Set([...hub.owners(), ...copies.owners()]);
  }

  /** @param head up to where the owner's log is known to reach */
  function lookIfMoved(owner: string, head: number): void {
    // A head that went back is one of a database that has lost something.
    if (hub.has(owner) && head !== (hub.head(owner) ?? 0)) logs.ask(owner);
    if (!copies.has(owner) || head <= (seen.get(owner) ?? 0)) return;
    seen.set(owner, head);
    states.ask(owner);
  }

  /** Some of the owners with running copies, in turn. */
  function nextBusy(): string[] {
    const busy = [...copies.busy.keys()];
    const from = turn % Math.max(1, busy.length);
    turn = from + OWNERS_AT_ONCE;
    return [...busy.slice(from), ...busy.slice(0, from)].slice(0, OWNERS_AT_ONCE);
  }

  async function tick(): Promise<void> {
    for (const owner of seen.keys()) if (!copies.has(owner)) seen.delete(owner);
    nextBusy().forEach(states.ask);
    onNews();
    const owners = ofInterest();
    if (owners.size === 0) return;
    for (const [owner, head] of await cluster.heads([...owners])) lookIfMoved(owner, head);
  }

  /** A look that takes longer than the time between two delays the next. */
  function arm(): void {
    timer = setTimeout(() => {
      tick()
        .catch(unlessFull)
        .then(() => timer !== null && arm())
        .catch(onFatal);
    }, LOOK_EVERY_MS).unref();
  }

  return {
    onForeign(owners) {
      if (owners === null) {
        tick().catch(unlessFull).catch(onFatal);
        return;
      }
      owners.forEach(look);
      onNews();
    },

    onCommitted(owner, _calls, { firstSeq, events }) {
      const head = events.at(-1)?.seq ?? firstSeq - 1;
      if (hub.has(owner) && head > (hub.head(owner) ?? head)) logs.ask(owner);
      if (!copies.has(owner)) return;
      const known = seen.get(owner);
      if (known !== undefined && known < firstSeq - 1) states.ask(owner);
      seen.set(owner, Math.max(known ?? 0, head));
    },

    catchUp: states.ask,
    tick,
    start: arm,
    stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      logs.stop();
      states.stop();
    },
  };
}
