import type { Deferred } from './deferred.ts';
import { Fifo } from './fifo.ts';

/**
 * The events that the code emits outside its steps, progress among them, numbered 1, 2, 3 … in the order of the calls: that
 * is also the order in which the store commits them and in which their promises settle.
 */
export class EmitOrder {
  readonly #undelivered = new Fifo<Deferred<void>>();
  #acknowledged: number;
  #called = 0;
  #delivered = 0;

  /** @param committed how many the store had when the copy was started */
  constructor(committed: number) {
    this.#acknowledged = committed;
  }

  get called(): number {
    return this.#called;
  }

  get delivered(): number {
    return this.#delivered;
  }

  /** How many have been called, are on disk, and were not delivered. */
  get deliverable(): number {
    return Math.min(this.#called, this.#acknowledged) - this.#delivered;
  }

  /** @returns the event's number */
  call(result: Deferred<void>): number {
    this.#undelivered.push(result);
    return ++this.#called;
  }

  /** So many more are on disk. */
  acknowledge(count: number): void {
    this.#acknowledged += count;
  }

  deliverNext(): void {
    this.#delivered++;
    this.#undelivered.shift()?.resolve();
  }
}
