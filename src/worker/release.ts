import { own } from './own-globals.ts';

/** Tells, once a copy was dropped, when no code of it runs any more. */
export class Release {
  readonly #functions = new Set<object>();
  #hasSettled = false;
  #isWaiting = false;
  #onReleased: (() => void) | null = null;

  /** A step's function begins to run. */
  enter(step: object): void {
    this.#functions.add(step);
  }

  /** It has come to its end, or does nothing any more but wait for what never comes. */
  leave(step: object): void {
    this.#functions.delete(step);
    this.#look();
  }

  /** The agent's function has come to its end. */
  settled(): void {
    this.#hasSettled = true;
    this.#look();
  }

  /** The agent's function has a promise in its hands that will never settle. */
  waits(): void {
    this.#isWaiting = true;
    this.#look();
  }

  /** The copy was dropped. */
  begin(onReleased: () => void): void {
    this.#onReleased = onReleased;
    this.#look();
  }

  /** Looks when what was just set off has been done. */
  #look(): void {
    if (this.#onReleased === null) return;
    own.setImmediate(() => {
      if (this.#functions.size > 0 || !(this.#hasSettled || this.#isWaiting)) return;
      this.#onReleased?.();
      this.#onReleased = null;
    });
  }
}
