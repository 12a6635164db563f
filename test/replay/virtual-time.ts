import type { Dice } from '../support/dice.ts';

type Callback = (...args: unknown[]) => void;

interface Timer {
  at: number;
  fire(): void;
  everyMs: number | null;
}

const real = {
  setImmediate: globalThis.setImmediate,
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  random: Math.random,
};

/**
 * The clock of everything under test: timers fire when it is moved, and it is known when no macrotask is left to run.
 * Only one can be installed at a time.
 */
export class VirtualTime {
  readonly #clock: { now: number };
  readonly #timers = new Set<Timer>();
  readonly #dice: Dice;
  #immediates = 0;

  /** @param dice what chance is made of from then on */
  constructor(clock: { now: number }, dice: Dice) {
    this.#clock = clock;
    this.#dice = dice;
  }

  get now(): number {
    return this.#clock.now;
  }

  install(): void {
    const setImmediate = (run: Callback, ...args: unknown[]) => {
      this.#immediates += 1;
      return real.setImmediate(() => {
        this.#immediates -= 1;
        run(...args);
      });
    };
    const setTimeout = (run: Callback, ms = 0, ...args: unknown[]) => this.#add(run, ms, args, false);
    const setInterval = (run: Callback, ms = 0, ...args: unknown[]) => this.#add(run, ms, args, true);
    const clear = (timer: { timer?: Timer } | null | undefined) => {
      if (timer?.timer !== undefined) this.#timers.delete(timer.timer);
      else real.clearTimeout(timer as NodeJS.Timeout | undefined);
    };
    Object.assign(globalThis, { setImmediate, setTimeout, setInterval, clearTimeout: clear, clearInterval: clear });
    Math.random = () => this.#dice.below(2 ** 20) / 2 ** 20;
  }

  uninstall(): void {
    const { random, ...timers } = real;
    Object.assign(globalThis, timers);
    Math.random = random;
  }

  /** When the next timer fires; null when there is none. Of those that go on and on, only with `all`. */
  nextTimerAt(all = false): number | null {
    let next: number | null = null;
    for (const { at, everyMs } of this.#timers) {
      if ((all || everyMs === null) && (next === null || at < next)) next = at;
    }
    return next;
  }

  /** Moves the clock, and fires what is due by then in its order. */
  advanceTo(at: number): void {
    for (let due = this.#firstDue(at); due !== null; due = this.#firstDue(at)) {
      this.#clock.now = Math.max(this.now, due.at);
      if (due.everyMs === null) this.#timers.delete(due);
      else due.at += due.everyMs;
      due.fire();
    }
    this.#clock.now = Math.max(this.now, at);
  }

  /** What a process had set dies with it. */
  forgetTimers(): void {
    this.#timers.clear();
  }

  /** Resolves when no macrotask of the code under test is left, nor anything that `isBusy` tells of. */
  async settle(isBusy: () => boolean): Promise<void> {
    do await new Promise<void>((resolve) => real.setImmediate(resolve));
    while (this.#immediates > 0 || isBusy());
  }

  #add(run: Callback, ms: number, args: unknown[], repeats: boolean) {
    const delay = Math.max(1, Math.trunc(ms) || 0);
    const timer: Timer = { at: this.now + delay, fire: () => run(...args), everyMs: repeats ? delay : null };
    this.#timers.add(timer);
    const handle = { timer, ref: () => handle, unref: () => handle, hasRef: () => false, refresh: () => handle };
    return handle;
  }

  #firstDue(at: number): Timer | null {
    let first: Timer | null = null;
    for (const timer of this.#timers) if (timer.at <= at && (first === null || timer.at < first.at)) first = timer;
    return first;
  }
}
