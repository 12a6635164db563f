import type { StartRow } from './protocol.ts';

/** In code units of JSON. A replay is given all of it at once, beside whatever else the thread holds. */
const MAX_JOURNAL_LENGTH = 64 * 1024 * 1024;

/** How much more the steps of a task may come to. */
export class JournalRoom {
  #left = MAX_JOURNAL_LENGTH;

  /** @param rows with which the copy begins */
  constructor(rows: readonly Pick<StartRow, 'value'>[]) {
    for (const { value } of rows) this.#left -= value?.length ?? 0;
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
