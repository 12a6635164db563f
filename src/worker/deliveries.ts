/** Something that settles a promise of the agent's. `at`: when the store committed it, epoch ms. */
interface Delivery {
  at: number;
  settle(): void;
}

/**
 * What a copy has still to hand to the agent's code: first in, first out, at most one a macrotask, so that the code has
 * done all it can do about one before it sees the next.
 */
export class Deliveries {
  readonly #mayDeliver: () => boolean;
  readonly #onRest: () => void;
  #queue: Delivery[] = [];
  #now: number;
  #turnsDue = 0;

  /**
   * @param originAt what {@link now} is before the first delivery
   * @param mayDeliver asked at each turn; when it says no, the next {@link schedule} goes on
   * @param onRest called when nothing is left and the agent's microtasks have run dry
   */
  constructor(originAt: number, mayDeliver: () => boolean, onRest: () => void) {
    this.#now = originAt;
    this.#mayDeliver = mayDeliver;
    this.#onRest = onRest;
  }

  /** When the last thing delivered was committed. */
  get now(): number {
    return this.#now;
  }

  add(at: number, settle: () => void): void {
    this.#queue.push({ at, settle });
    // A turn for each: they then run in one go of the event loop, with the agent's microtasks between them.
    if (this.#turnsDue < this.#queue.length) this.#scheduleTurn();
  }

  clear(): void {
    this.#queue = [];
  }

  /** Makes sure that there will be a turn, in a macrotask of its own. */
  schedule(): void {
    if (this.#turnsDue === 0) this.#scheduleTurn();
  }

  #scheduleTurn(): void {
    this.#turnsDue += 1;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#turnsDue -= 1;
    if (!this.#mayDeliver()) return;
    const next = this.#queue.shift();
    if (next === undefined) {
      if (this.#turnsDue === 0) this.#onRest();
      return;
    }
    this.#now = next.at;
    next.settle();
    this.schedule();
  };
}
