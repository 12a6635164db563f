import type { Store } from '../../src/store/store.ts';

/** A store that reads at once, as ever, and gives what it has read when the test lets it: as one would that is far away. */
export class SlowReads {
  readonly store: Store;
  /** While false, what is read is given at once. */
  isSlow = true;
  /** How many reads were begun at all. */
  begun = 0;
  /** How many were under way at once, at most. */
  most = 0;
  readonly #held: (() => void)[] = [];

  constructor(real: Store) {
    this.store = {
      ...real,
      snapshot: (ask) => this.#give(real.snapshot(ask)),
      claimable: (...args) => this.#give(real.claimable(...args)),
    };
  }

  /** How many reads are under way. */
  get held(): number {
    return this.#held.length;
  }

  /** Gives what was read first of what has not been given. */
  release(): void {
    const give = this.#held.shift();
    if (give === undefined) throw new Error('Nothing is being read.');
    give();
  }

  async #give<T>(read: Promise<T>): Promise<T> {
    this.begun += 1;
    if (this.isSlow) {
      const released = new Promise<void>((resolve) => this.#held.push(resolve));
      this.most = Math.max(this.most, this.held);
      await Promise.allSettled([read, released]);
    }
    return read;
  }
}
