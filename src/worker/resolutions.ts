import { Fifo } from './fifo.ts';
import type { StartRow, Told } from './protocol.ts';

/** A place in the order of the store. `told` is null for a spawn whose child is to be made anew, until it has been. */
interface Place {
  ord: number;
  emitsDone: number;
  key: string;
  told: Told | null;
}

/** What the keys of a copy came to, in the order of the store, as far as the copy has been told. */
export class Resolutions {
  readonly #undelivered = new Fifo<Place>();
  /** Those of {@link #undelivered} by key. */
  readonly #places = new Map<string, Place>();
  #lastTold = 0;
  #lastDelivered = 0;

  constructor(rows: readonly StartRow[]) {
    for (const place of rows.flatMap(placesOf).sort((a, b) => a.ord - b.ord)) this.#add(place);
  }

  /** The `ord` of the newest one that is known; 0 when none is. */
  get lastTold(): number {
    return this.#lastTold;
  }

  /** The `ord` of the last one delivered; 0 before the first. */
  get lastDelivered(): number {
    return this.#lastDelivered;
  }

  get undelivered(): number {
    return this.#undelivered.length;
  }

  /** The next to be delivered. */
  get next(): Readonly<Place> | undefined {
    return this.#undelivered.first;
  }

  /** Whether it is known what the key came to, and that was not delivered yet. */
  isDue(key: string): boolean {
    return this.#places.has(key);
  }

  /** Takes those in, in the order of the store, that were not told before. */
  learn(resolutions: readonly Told[]): void {
    for (const told of resolutions) {
      const place = this.#places.get(told.key);
      if (told.ord > this.#lastTold) this.#add({ ord: told.ord, emitsDone: told.emitsDone, key: told.key, told });
      else if (place?.told === null) place.told = told;
    }
  }

  /** The next one is being delivered. */
  take(): void {
    const place = this.#undelivered.shift();
    if (place === undefined) return;
    this.#places.delete(place.key);
    this.#lastDelivered = place.ord;
  }

  #add(place: Place): void {
    this.#lastTold = place.ord;
    this.#undelivered.push(place);
    this.#places.set(place.key, place);
  }
}

/**
 * The value that a key came to, a new one at each call.
 *
 * @param own its JSON text where the copy has it itself
 * @throws Error when nobody has it
 */
export function toldValue<T>({ key, value }: Told, own: string | null = null): T {
  const text = value ?? own;
  if (text === null) throw new Error(`Nobody has told what ${key} came to.`);
  return JSON.parse(text);
}

function placesOf({ key, status, value, ord, emitsDone, at }: StartRow): Place[] {
  if (ord === null || emitsDone === null || at === null) return [];
  return [{ ord, emitsDone, key, told: status === 'pending' ? null : { key, status, value, ord, emitsDone, at } }];
}
