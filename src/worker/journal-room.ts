import type { StartRow } from './protocol.ts';

/** In code units of JSON. A replay is given all of it at once, beside whatever else the thread holds. */
const MAX_JOURNAL_LENGTH = 64 * 1024 * 1024;
/** A replay goes through all of them, one after the other; a child takes two. */
export const MAX_JOURNAL_ROWS = 10_000;
export const ROWS_LIMIT = `A task may call for ${MAX_JOURNAL_ROWS} steps, questions, sleeps and children in all.`;

/** How much more the journal of a task may come to. */
export class JournalRoom {
  #left = MAX_JOURNAL_LENGTH;
  #rowsLeft: number;

  /** @param rows with which the copy begins */
  constructor(rows: readonly Pick<StartRow, 'value'>[]) {
    this.#rowsLeft = MAX_JOURNAL_ROWS - rows.length;
    for (const { value } of rows) this.#left -= value?.length ?? 0;
  }

  /** Takes room for a new row; false when there is none. */
  takeRow(): boolean {
    this.#rowsLeft--;
    return this.#rowsLeft >= 0;
  }

  /** @throws RangeError when there is no room for the value of a step */
  take(json: string): void {
    if (json.length > this.#left) {
      throw new RangeError(
        'What the steps of a task return may hold 64 MiB of JSON in all: keep large things elsewhere.',
      );
    }
    this.#left -= json.length;
  }
}
