import { own } from './own-globals.ts';

/** So many events a second a task may send for long: a reader can follow them, and a hundred such tasks fit into a server. */
export const EVENTS_PER_SECOND = 1000;
/** And so many at once after a pause. */
export const EVENT_BURST = 5000;

/** How fast the events of one task may go out. Nothing is ever dropped: what may not go yet waits. */
export class Pace {
  #left = EVENT_BURST;
  #at = own.performance.now();

  /** Takes leave for one event; false when it must wait. */
  take(): boolean {
    const now = own.performance.now();
    this.#left = Math.min(EVENT_BURST, this.#left + ((now - this.#at) / 1000) * EVENTS_PER_SECOND);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
