/** What waits to be written of one source, in its order. */
export interface Inbox<Entry> {
  put(entries: readonly Entry[]): void;
  /** Forgets what waits, and writes nothing more. */
  stop(): void;
}

export interface InboxOptions<Entry> {
  /**
   * Writes entries in their order.
   *
   * @returns those that could not be written now for want of space; then none that was passed to a later call may have
   *   been written either
   */
  write(entries: Entry[]): Promise<Entry[]>;
  /** Called when nothing waits and nothing is under way. */
  onIdle(): void;
  /** Called when `write` rejects, which it must not. */
  onFatal(error: unknown): void;
}

/** While one batch is on its way to the disk the next is made ready. */
const BATCHES_UNDER_WAY = 2;
const RETRY_MS = 1000;

/** Writes what is put in, a few batches at a time, and again what could not be written: nothing overtakes, nothing is lost. */
export function createInbox<Entry>({ write, onIdle, onFatal }: InboxOptions<Entry>): Inbox<Entry> {
  let waiting: Entry[] = [];
  let refused: Entry[] = [];
  let underWay = 0;
  let retry: NodeJS.Timeout | null = null;
  let stopped = false;

  function send(): void {
    while (waiting.length > 0 && underWay < BATCHES_UNDER_WAY && retry === null && refused.length === 0) {
      const entries = waiting;
      waiting = [];
      underWay += 1;
      write(entries).then(written, failed);
    }
  }

  function written(notStored: Entry[]): void {
    if (stopped) return;
    underWay -= 1;
    refused.push(...notStored);
    if (underWay === 0 && refused.length > 0) retry = setTimeout(again, RETRY_MS);
    else send();
    if (underWay === 0 && retry === null) onIdle();
  }

  function again(): void {
    retry = null;
    waiting = [...refused, ...waiting];
    refused = [];
    send();
  }

  function failed(error: unknown): void {
    if (!stopped) onFatal(error);
  }

  return {
    put(entries) {
      if (stopped) return;
      waiting.push(...entries);
      send();
    },
    stop() {
      stopped = true;
      waiting = [];
      if (retry !== null) clearTimeout(retry);
    },
  };
}
