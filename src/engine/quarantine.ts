import type { Store, Suspect } from '../store/store.ts';
import type { Claims } from './claims.ts';
import { ALONE_AFTER_MS } from './orphans.ts';
import { unlessFull } from './refusal.ts';

/**
 * Starts the tasks during which the process died twice in a row without their getting anything done: a few at first, then
 * more, so that the one that kills it is found in the end and nobody else is taken for it.
 *
 * @see docs/decisions/013-a-crash-convicts-nobody.md
 */
export interface Quarantine {
  /** Starts the next group when its time has come. */
  tick(now: number): Promise<void>;
  start(): void;
  stop(): void;
}

const TICK_MS = 1000;
/** Between two groups, after the first few deaths in a row. What kills the process later is not alone by then. */
const FIRST_INTERVAL_MS = 2000;
const FEW_DEATHS = 4;
/** The groups come twice as far apart with each further death that did not tell who it is, up to this. */
const MAX_INTERVAL_MS = 24_000;
/** So many come one by one first, where the groups are so far apart that a death would count. */
const ONE_BY_ONE = 5;
const AT_ONCE = 1000;

export interface QuarantineOptions {
  store: Pick<Store, 'suspects' | 'now'>;
  claims: Pick<Claims, 'claim' | 'room' | 'reserve' | 'knows'>;
  /**
   * Whether this process is the one of several to do it: one is enough, and the order in which suspects are started is then
   * that of one. What it learns by a death is in the store, for whoever is next. Default: it is the only one.
   */
  isMine?: () => boolean;
  /** 0 ≤ x < 1 */
  random?: () => number;
  /** Called when the suspects cannot be read, and not for want of the database: it is asked again. */
  onFatal(error: unknown): void;
}

export function createQuarantine(options: QuarantineOptions): Quarantine {
  const { store, claims, isMine = () => true, random = Math.random, onFatal } = options;
  let groups = 0;
  let deaths = 0;
  /** The last group: when it was started, and what is counted to it. */
  let last = { at: Number.NEGATIVE_INFINITY, counted: 0 };
  let timer: NodeJS.Timeout | null = null;
  let ticking = false;

  async function tick(now: number): Promise<void> {
    if (!isMine()) {
      claims.reserve(0);
      return;
    }
    const suspects = (await store.suspects(AT_ONCE)).filter(({ agent }) => claims.knows(agent));
    deaths = Math.max(deaths, ...suspects.map(({ crashes }) => crashes));
    const next = nextGroup(suspects, groupSize(groups, deaths), random);
    const counted = Math.max(0, ...next.map(({ aloneCrashes }) => aloneCrashes));
    // A clock that was set back must not hold anybody up.
    if (now >= last.at && now < last.at + intervalMs(deaths, Math.max(counted, last.counted))) return;
    const group = next.slice(0, Math.max(0, claims.room()));
    // Others always queue for the slots that become free: one is kept for it.
    claims.reserve(suspects.length > 0 && group.length === 0 ? 1 : 0);
    if (group.length === 0) return;
    claims.claim(group);
    last = { at: now, counted };
    groups++;
  }

  /** One at a time: two would start the same group twice. */
  function turn(): void {
    if (ticking) return;
    ticking = true;
    tick(store.now())
      .catch(unlessFull)
      .catch((error: unknown) => timer !== null && onFatal(error))
      .finally(() => {
        ticking = false;
      });
  }

  return {
    tick,
    start() {
      turn();
      timer = setInterval(turn, TICK_MS).unref();
    },
    stop() {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}

/**
 * How long after a group the next one may start. Around one to which deaths are counted it is more than twice as long as
 * makes it count, and twice as long again for each: what kills the process so late that others were blamed twice is alone
 * then.
 *
 * @param deaths the most that a suspect has seen in a row
 * @param counted the most deaths that are counted to one of either group
 */
export function intervalMs(deaths: number, counted: number): number {
  const byDeaths = Math.min(MAX_INTERVAL_MS, FIRST_INTERVAL_MS * 2 ** Math.max(0, deaths - FEW_DEATHS));
  return counted === 0 ? byDeaths : Math.max(byDeaths, MAX_INTERVAL_MS * 2 ** (counted - 1));
}

/**
 * How many the next group may have: twice as many as the one before.
 *
 * @param before how many groups have been started
 */
export function groupSize(before: number, deaths: number): number {
  const oneByOne = intervalMs(deaths, 0) >= ALONE_AFTER_MS ? ONE_BY_ONE - 1 : 0;
  return Math.min(AT_ONCE, 2 ** Math.max(0, before - oneByOne));
}

/**
 * Which suspects are to be started next: those that have seen the most deaths, by chance among equals. Those with which the
 * process died while they were alone come last, each alone again.
 */
export function nextGroup(suspects: readonly Suspect[], size: number, random: () => number): Suspect[] {
  const ranked = suspects
    .map((suspect) => ({ suspect, lot: random() }))
    .sort((a, b) => b.suspect.crashes - a.suspect.crashes || a.lot - b.lot)
    .map(({ suspect }) => suspect);
  const ordinary = ranked.filter(({ aloneCrashes }) => aloneCrashes === 0);
  return ordinary.length > 0 ? ordinary.slice(0, size) : ranked.slice(0, 1);
}
