/** What waits to be written of one source, in its order. */
export interface Inbox<Entry> {
  put(entries: readonly Entry[]): void;
}

export interface InboxOptions<Entry> {
  /**
   * Writes entries in their order.
   *
   * @returns those that could not be written now for want of space; then none that was passed to a later call may have
   *   been written either
   */
  write(entries: Entry[]): Promise<Entry[]>;
  /** Called when `write` rejects, which it must not. */
  onFatal(error: unknown): void;
}

/** While one batch is on its way to the disk the next is made ready. */
const BATCHES_UNDER_WAY = 2;
const RETRY_MS = 1000;

/** Writes what is put in, a few batches at a time, and again what could not be written: nothing overtakes, nothing is lost. */
export function createInbox<Entry>({ write, onFatal }: InboxOptions<Entry>): Inbox<Entry> {
  let waiting: Entry[] = [];
  let refused: Entry[] = [];
  let underWay = 0;
  let retrying = false;

  function send(): void {
    while (waiting.length > 0 && underWay < BATCHES_UNDER_WAY && !retrying && refused.length === 0) {
      const entries = waiting;
      waiting = [];
      underWay += 1;
      write(entries).then(written, onFatal);
    }
  }

  function written(notStored: Entry[]): void {
    underWay -= 1;
    refused.push(...notStored);
    if (underWay > 0 || refused.length === 0) {
      send();
      return;
    }
    retrying = true;
    setTimeout(() => {
      retrying = false;
      waiting = [...refused, ...waiting];
      refused = [];
      send();
    }, RETRY_MS);
  }

  return {
    put(entries) {
      waiting.push(...entries);
      send();
    },
  };
}
