import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Backlog } from '../engine/backlog.ts';
import { HoldfastError } from '../model/error.ts';
import type { Metrics } from './metrics.ts';

/** Refuses new work while there is too much, so that what is under way, and all that is no new work, goes on. */
export interface Shedding {
  /** Whether it is more than a burst: `/readyz` says so, and new streams are asked to come back later. */
  readonly isOverloaded: boolean;
  /** Whether new work is refused now: counts as a refusal when it is. */
  refusesWork(): boolean;
  /** For a request for new work, before its body is read: waits for its turn. @throws HoldfastError `overloaded` */
  admitWork(): Promise<void>;
  /** For a stream that is about to be opened. @throws HoldfastError `overloaded` */
  refuseStream(): void;
  /**
   * The same function, counted while it runs. A body that comes slowly and a wait for the outcome are no part of it.
   *
   * @throws HoldfastError `overloaded` when too many run
   */
  counted<Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>): (...args: Args) => Promise<Result>;
  /** One look at the event loop. @param delayMs how late it was on average since the last look */
  tick(delayMs: number): void;
  start(): void;
  stop(): void;
}

/** So much new work may be on its way to the disk at a time: what a slow machine still answers within two seconds. */
const MAX_UNDER_WAY = 500;
/**
 * So much is begun in one turn of the event loop; the rest waits for the next ones. Long turns make everybody wait, and
 * those who connect most of all: libuv takes one new connection a turn.
 */
const BEGUN_A_TURN = 256;
/** Where the disk makes everybody wait for so long, or the event loop is late, only a few are let in at a time. */
const MAX_COMMIT_MS = 1000;
const FEW = 64;
/** On average over a tick, in two ticks in a row: one long stop, of a garbage collection or a busy machine, is no overload. */
const LATE_MS = 250;
/** It is over when the loop is as prompt as this again. */
const PROMPT_MS = 100;
const TICK_MS = 500;
/** How often the delay is measured. Node counts this time in. */
const RESOLUTION_MS = 20;
/** So many ticks without a refusal, and it is no longer overloaded. */
const CALM_TICKS = 2;

/** What is said to whoever brings new work meanwhile. */
export function tooMuchWork(): HoldfastError {
  return new HoldfastError('overloaded', 'The server has too much to do and takes no new work at the moment.');
}

export function createShedding(
  backlog: Backlog,
  { refused, overloaded, loopDelay, newWork, commits }: Metrics['overload'],
): Shedding {
  let underWay = 0;
  const waiting: (() => void)[] = [];
  let begun = 0;
  let lateTicks = 0;
  let isLate = false;
  let refusedInTick = 0;
  let refusedBefore = false;
  let calmTicks = CALM_TICKS;
  let timer: NodeJS.Timeout | null = null;
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  function refusesWork(): boolean {
    const max = isLate || backlog.oldestMs() > MAX_COMMIT_MS ? FEW : MAX_UNDER_WAY;
    if (underWay + waiting.length < max) return false;
    refusedInTick += 1;
    return true;
  }

  async function admitWork(): Promise<void> {
    if (refusesWork()) throw tooMuchWork();
    if (begun === 0) setImmediate(nextTurn);
    if (begun >= BEGUN_A_TURN) await new Promise<void>((resolve) => waiting.push(resolve));
    else begun += 1;
  }

  function nextTurn(): void {
    const next = waiting.splice(0, BEGUN_A_TURN);
    begun = next.length;
    if (begun > 0) setImmediate(nextTurn);
    for (const go of next) go();
  }

  function tick(delayMs: number): void {
    lateTicks = delayMs > LATE_MS ? lateTicks + 1 : 0;
    if (lateTicks >= 2) isLate = true;
    else if (delayMs < PROMPT_MS) isLate = false;
    const refusedNow = refusedInTick > 0;
    // A burst that is too large is refused in part, and no reason to send others away.
    if (isLate || (refusedNow && (refusedBefore || calmTicks < CALM_TICKS))) calmTicks = 0;
    else if (!refusedNow && calmTicks < CALM_TICKS) calmTicks += 1;
    refusedBefore = refusedNow;
    refused.inc({ reason: 'overloaded' }, refusedInTick);
    refusedInTick = 0;
    loopDelay.set(delayMs / 1000);
    overloaded.set(calmTicks < CALM_TICKS ? 1 : 0);
    newWork.set(underWay);
    commits.set(backlog.count);
  }

  return {
    get isOverloaded() {
      return calmTicks < CALM_TICKS;
    },
    refusesWork,
    admitWork,
    refuseStream() {
      if (calmTicks >= CALM_TICKS) return;
      refused.inc({ reason: 'stream' });
      throw new HoldfastError('overloaded', 'The server takes no new streams at the moment.');
    },
    counted(work) {
      return async (...args) => {
        // Those who were let in together may have become more than there is room for.
        if (underWay >= MAX_UNDER_WAY + BEGUN_A_TURN) {
          refusedInTick += 1;
          throw tooMuchWork();
        }
        underWay += 1;
        try {
          return await work(...args);
        } finally {
          underWay -= 1;
        }
      };
    },
    tick,
    start() {
      delays.enable();
      timer = setInterval(() => {
        // Of a tick in which the loop never turned there is nothing to take the mean of.
        const meanMs = delays.count === 0 ? TICK_MS : delays.mean / 1e6 - RESOLUTION_MS;
        delays.reset();
        tick(Math.max(0, meanMs));
      }, TICK_MS).unref();
    },
    stop() {
      delays.disable();
      if (timer !== null) clearInterval(timer);
    },
  };
}
