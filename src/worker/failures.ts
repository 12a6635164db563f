import type { Cut } from '../model/journal.ts';
import type { Told } from './protocol.ts';

/** What the code had done when a failure was delivered to it. */
type Before = Pick<Cut, 'askedAt' | 'ord' | 'emits'>;

/** So many errors are looked at for the one that a failure came from. */
const MAX_ERRORS = 1000;

/** The failures that were delivered to a copy's code, for the question which of them has ended it. */
export class Failures {
  readonly #delivered = new Map<string, Before>();
  readonly #keys = new WeakMap<object, string>();
  /** The key of the resolution that was delivered last, when that was a failure. */
  #last: string | null = null;

  /** Notes what is about to be delivered. */
  note({ key, status, ord }: Told, before: Omit<Before, 'ord'>): void {
    const isFailure = status !== 'done' && status !== 'completed' && status !== 'answered' && status !== 'withdrawn';
    if (isFailure) this.#delivered.set(key, { ...before, ord });
    this.#last = isFailure ? key : null;
  }

  /** Remembers which key's failure an error is. */
  blame(error: object, key: string): void {
    this.#keys.set(error, key);
  }

  /**
   * Where an attempt that ends with this error is taken back to: before the failures that the error is, or has among its
   * causes; where it has none, before the one that was the last thing the code was told. Null when that was no failure.
   */
  cutBefore(thrown: unknown): Cut | null {
    const found = this.#keysIn(thrown);
    const keys = found.length === 0 && this.#last !== null ? [this.#last] : found;
    const [first] = keys.flatMap((key) => this.#delivered.get(key) ?? []).sort((a, b) => a.ord - b.ord);
    return first === undefined ? null : { keys, ...first };
  }

  #keysIn(thrown: unknown): string[] {
    const seen = new Set<unknown>([thrown]);
    for (const error of seen) {
      for (const cause of causesOf(error)) if (seen.size < MAX_ERRORS) seen.add(cause);
    }
    const keys = [...seen].flatMap((error) => (isObject(error) ? (this.#keys.get(error) ?? []) : []));
    return [...new Set(keys)];
  }
}

/** What an error says it came from. Never throws. */
function causesOf(error: unknown): unknown[] {
  try {
    if (!isObject(error)) return [];
    const errors: unknown = Reflect.get(error, 'errors');
    return [Reflect.get(error, 'cause'), ...(Array.isArray(errors) ? errors.slice(0, MAX_ERRORS) : [])];
  } catch {
    return [];
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
