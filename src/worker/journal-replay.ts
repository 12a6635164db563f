import type { StartRow } from './protocol.ts';

/**
 * The rows that a copy was started with and that its code has not asked for again. Until it has asked for all of them, it
 * is being replayed.
 */
export class JournalReplay {
  readonly #unasked: Map<string, StartRow>;
  readonly #marks: ReadonlySet<string>;
  /** By when they were asked for. */
  readonly #order: { key: string; askedAt: number }[];
  #next = 0;

  /** @param marks keys of `once` steps that may have run, though no row tells */
  constructor(rows: readonly StartRow[], marks: readonly string[]) {
    this.#unasked = new Map(rows.map((row) => [row.key, row]));
    this.#marks = new Set(marks);
    // A child's result is asked for together with its spawn.
    const asked = rows.filter(({ kind }) => kind !== 'child');
    this.#order = asked.map(({ key, askedAt }) => ({ key, askedAt })).sort((a, b) => a.askedAt - b.askedAt);
  }

  get isAsked(): boolean {
    return this.#unasked.size === 0;
  }

  /** The row that should have been asked for first; null when all have been. */
  get due(): StartRow | null {
    return this.#unasked.get(this.#firstUnasked()?.key ?? '') ?? null;
  }

  isMarked(key: string): boolean {
    return this.#marks.has(key);
  }

  /** The code asks for a key. @returns its row; null when it is new */
  ask(key: string): StartRow | null {
    const row = this.#unasked.get(key) ?? null;
    this.#unasked.delete(key);
    return row;
  }

  /**
   * Whether a row has still to be asked for that was asked for the first time when no more than so many deliveries had
   * been made: until then nothing may be delivered, or a branch of the code would be overtaken by another.
   */
  isBehind(deliveries: number): boolean {
    const first = this.#firstUnasked();
    return first !== undefined && first.askedAt <= deliveries;
  }

  #firstUnasked(): { key: string; askedAt: number } | undefined {
    for (let first = this.#order[this.#next]; first !== undefined; first = this.#order[++this.#next]) {
      if (this.#unasked.has(first.key)) return first;
    }
    return undefined;
  }
}
