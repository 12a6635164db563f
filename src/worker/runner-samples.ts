/** Nobody in particular, or the thread's own code. */
export const UNKNOWN = 0;

/** A share of the samples that is as good as all: others may get a word in while one keeps a thread busy. */
const NEARLY_ALL = 0.9;

/** Looks from time to time whose code a thread runs that has to answer, to say who keeps it from that. */
export class RunnerSamples {
  readonly #cell: Int32Array;
  #counts = new Map<number, number>();
  #total = 0;

  /** @param cell the one that the thread writes to */
  constructor(cell: Int32Array) {
    this.#cell = cell;
  }

  /** The index of the copy whose code runs, or ran last. */
  get latest(): number {
    return Atomics.load(this.#cell, 0);
  }

  look(): void {
    const { latest } = this;
    this.#counts.set(latest, (this.#counts.get(latest) ?? 0) + 1);
    this.#total++;
  }

  /** The thread has answered: what follows is another story. */
  forget(): void {
    this.#counts = new Map();
    this.#total = 0;
  }

  /** Whose code has run nearly all the time, now as well; {@link UNKNOWN} when that was not one alone. */
  get busiest(): number {
    this.look();
    const { latest } = this;
    return (this.#counts.get(latest) ?? 0) >= NEARLY_ALL * this.#total ? latest : UNKNOWN;
  }
}
