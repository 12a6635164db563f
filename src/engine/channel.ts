import type { Lease } from '../model/fence.ts';
import type { Command, Told } from '../worker/protocol.ts';

/** What a copy is to be told. `before`: the newest place that a resolution of its task had until then. */
export type News = { before: number } & (
  | { kind: 'resolved'; told: Told }
  /** All its reports up to number `n` are on disk. */
  | { kind: 'acknowledged'; n: number }
  | { kind: 'waited'; n: number; answer: 'waiting' | 'already' }
  | { kind: 'adopted'; fence: number }
);

/**
 * The way to one copy in a worker. Nothing overtakes on it what was resolved before: when some of that was not told, since
 * another process has written it, everything waits until it is learned.
 *
 * @see docs/durability.md
 */
export interface Channel {
  /** The newest place that the copy was told of, with what has gathered for it. */
  readonly ord: number;
  /** Whether it is kept from hearing that it was claimed again. */
  readonly isAdoptionHeld: boolean;
  /** Tells it, in the order of the commits; what needs no order of its own is gathered until {@link Channel.flush}. */
  put(news: News): void;
  /** What was read of the store: all that was resolved up to the place `ord`, as far as the copy did not know of it. */
  learn(ord: number, resolutions: readonly Told[]): void;
  /** Tells what has gathered: in two commands at most, what was resolved, and then up to where the reports are on disk. */
  flush(): void;
  /** The copy has ended with its report number `n`, which is on disk: it need learn nothing first. */
  finish(n: number): void;
  /** The copy is about to be told to go, or has gone: what it would have been told later it need not. */
  close(): void;
}

/**
 * @param copy as it was started
 * @param ord the newest place among the rows that it was started with
 * @param onBehind called when there is something to learn; null where no other process writes
 */
export function createChannel(
  copy: Lease,
  ord: number,
  send: (command: Command) => void,
  onBehind: (() => void) | null,
): Channel {
  const { taskId } = copy;
  let { fence } = copy;
  let knownTo = ord;
  let waits = false;
  /** What was resolved while the copy waits; it learns of it with its next claim. */
  let untold: Told[] = [];
  let resolutions: Told[] = [];
  let acknowledged: number | null = null;
  /** What must not be told before something else. */
  let held: News[] = [];

  function deliver(news: News): void {
    switch (news.kind) {
      case 'resolved':
        resolve(news.told, news.before);
        break;
      case 'acknowledged':
        acknowledged = news.n;
        break;
      case 'waited':
        flush();
        send({ kind: 'waited', taskId, fence, n: news.n, answer: news.answer });
        waits = news.answer === 'waiting';
        break;
      case 'adopted':
        fence = news.fence;
        send({ kind: 'adopt', taskId, fence, resolutions: untold });
        untold = [];
        waits = false;
    }
  }

  /** What was read is told once. A spawn that was reopened is resolved in its old place, which no reading finds. */
  function resolve(told: Told, before: number): void {
    if (told.ord <= knownTo && told.ord > before) return;
    knownTo = Math.max(knownTo, told.ord);
    if (waits) untold.push(told);
    else resolutions.push(told);
  }

  function isTooEarly({ before }: News): boolean {
    return onBehind !== null && before > knownTo;
  }

  function goOn(): void {
    while (held[0] !== undefined && !isTooEarly(held[0])) {
      deliver(held[0]);
      held.shift();
    }
    if (held.length > 0) onBehind?.();
  }

  function flush(): void {
    if (resolutions.length > 0) send({ kind: 'resolve', taskId, fence, resolutions });
    if (acknowledged !== null) send({ kind: 'ack', taskId, fence, n: acknowledged });
    resolutions = [];
    acknowledged = null;
  }

  return {
    get ord() {
      return knownTo;
    },
    get isAdoptionHeld() {
      return held.some(({ kind }) => kind === 'adopted');
    },
    put(news) {
      held.push(news);
      if (held.length === 1) goOn();
    },
    learn(upTo, learned) {
      for (const told of learned) resolve(told, told.ord - 1);
      knownTo = Math.max(knownTo, upTo);
      goOn();
    },
    flush,
    finish(n) {
      held = [];
      acknowledged = n;
    },
    close() {
      const adoption = held.findLast(({ kind }) => kind === 'adopted');
      held = [];
      flush();
      // What it is told last names its newest claim, and its worker must know that for its own.
      if (adoption !== undefined) deliver(adoption);
    },
  };
}
