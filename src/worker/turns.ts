import { own } from './own-globals.ts';

/**
 * The turns in which something is handed to an agent's code: each is a macrotask of its own, so that the code has done all
 * it can do about one thing before it sees the next.
 */
export class Turns {
  readonly #deliver: () => boolean;
  readonly #onIdle: () => void;
  #due = 0;

  /**
   * @param deliver hands over at most one thing; false when there is none that may be
   * @param onIdle called when there is none and the code's microtasks have run dry
   */
  constructor(deliver: () => boolean, onIdle: () => void) {
    this.#deliver = deliver;
    this.#onIdle = onIdle;
  }

  /** Makes sure that there will be so many, at least one. Those of one call run in one go of the event loop. */
  schedule(count = 1): void {
    for (let due = Math.max(count, 1) - this.#due; due > 0; due--) {
      this.#due++;
      own.setImmediate(this.#turn);
    }
  }

  readonly #turn = (): void => {
    this.#due--;
    if (this.#deliver()) this.schedule();
    else if (this.#due === 0) this.#onIdle();
  };
}
