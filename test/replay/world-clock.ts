import { isTerminal, type TaskRecord } from '../../src/model/task.ts';
import type { TestProcess } from './process.ts';
import type { Seen } from './seen.ts';
import type { VirtualTime } from './virtual-time.ts';

/** As long as something else can happen, the clock moves no further at once. */
const NEAR_MS = 100;
const MAX_LEAPS = 200;
/** A suspect may wait for two minutes until it is alone: nothing else that runs may stand still for so long. */
const PATIENCE_MS = 130_000;

export interface WorldClockOptions {
  time: VirtualTime;
  seen: Seen;
  /** The process that runs now. */
  process(): TestProcess;
  onTrouble(error: unknown): void;
}

/** Moves the clock to what comes next, be it a timer or something that the store knows to fall due. */
export class WorldClock {
  /** Tasks that ran or should have run while nothing could happen. */
  readonly standstills: string[] = [];
  readonly #options: WorldClockOptions;
  /** How often in a row it was moved since nothing else could be done, and since when. */
  #leaps = 0;
  #stoodSince: number | null = null;

  constructor(options: WorldClockOptions) {
    this.#options = options;
  }

  /** What comes next, if that is soon. */
  nextSoon(): number | null {
    const next = this.#nextAt(true);
    return next !== null && next <= this.#options.time.now + NEAR_MS ? next : null;
  }

  /** Something else has happened. */
  reset(): void {
    this.#leaps = 0;
    this.#stoodSince = null;
  }

  /**
   * Nothing can happen before the clock has moved far: moves it.
   *
   * @returns false when nothing will happen then either
   */
  leap(tasks: readonly TaskRecord[]): boolean {
    const unfinished = tasks.filter(({ status }) => !isTerminal(status));
    const standing = unfinished.filter(
      ({ status, runAt }) => status === 'running' || (status === 'queued' && runAt === null),
    );
    const next = this.#nextAt(standing.length > 0);
    if (unfinished.length === 0 || next === null || this.#leaps++ > MAX_LEAPS) return false;
    const wasFar = this.#stoodSince !== null && next - this.#stoodSince > PATIENCE_MS;
    this.#stoodSince = standing.length === 0 ? null : (this.#stoodSince ?? this.#options.time.now);
    if (wasFar) for (const { id, status } of standing) this.standstills.push(`${id} ${status}`);
    this.moveTo(next);
    return true;
  }

  moveTo(at: number): void {
    const { time, onTrouble } = this.#options;
    time.advanceTo(at);
    const process = this.#options.process();
    if (process.isSweeping) return;
    process.isSweeping = true;
    process.sweeper
      .tick(process.log)
      .catch(onTrouble)
      .finally(() => {
        process.isSweeping = false;
      });
  }

  /** @param all also timers that go on and on: nobody but a task that stands still is waited for with those */
  #nextAt(all: boolean): number | null {
    const { time, seen, process } = this.#options;
    const timerAt = time.nextTimerAt(all);
    const dueAt = process().isSweeping ? null : seen.dueAt;
    return timerAt === null || dueAt === null ? (timerAt ?? dueAt) : Math.min(timerAt, dueAt);
  }
}
