/** What waits to be written of one source, in its order. */
export interface WriteQueue<Entry> {
  put(entries: readonly Entry[]): void;
  /** Forgets what waits, and writes nothing more. */
  stop(): void;
}

/**
 * What became of a batch: `full`: no space for it, and then none of a later one was written either. `broken`: something in
 * it is a bug, so nothing of it was written, while a later one may have been.
 */
export type Written = 'stored' | 'full' | 'broken';

export interface WriteQueueOptions<Entry> {
  /** Writes all of them in their order, or none. */
  write(entries: Entry[]): Promise<Written>;
  /**
   * Deals with broken batches while nothing else is under way.
   *
   * @param overtaken what was written though it stood behind them
   * @returns those that are still to be written, but for which there was no space
   */
  repair(broken: Entry[], overtaken: Entry[]): Promise<Entry[]>;
  /** Called when nothing waits and nothing is under way. */
  onIdle(): void;
  /** Called when `write` or `repair` rejects, which they must not. */
  onFatal(error: unknown): void;
}

/** While one batch is on its way to the disk the next is made ready. */
const BATCHES_UNDER_WAY = 2;
const RETRY_MS = 1000;

/** Writes what is put in, a few batches at a time, and again what could not be written: nothing overtakes, nothing is lost. */
export function createWriteQueue<Entry>({
  write,
  repair,
  onIdle,
  onFatal,
}: WriteQueueOptions<Entry>): WriteQueue<Entry> {
  let waiting: Entry[] = [];
  /** What was not written, in its order: first the broken, then what there was no space for. */
  let broken: Entry[] = [];
  let overtaken: Entry[] = [];
  let refused: Entry[] = [];
  let underWay = 0;
  let retry: NodeJS.Timeout | null = null;
  let stopped = false;

  function send(): void {
    while (waiting.length > 0 && underWay < BATCHES_UNDER_WAY && retry === null && isWhole()) {
      const entries = waiting;
      waiting = [];
      underWay += 1;
      write(entries).then((written) => settle(entries, written), failed);
    }
    if (underWay === 0 && retry === null) onIdle();
  }

  function isWhole(): boolean {
    return refused.length === 0 && broken.length === 0;
  }

  function settle(entries: Entry[], written: Written): void {
    if (written === 'full') refused.push(...entries);
    else if (written === 'broken') broken.push(...entries);
    else if (broken.length > 0) overtaken.push(...entries);
    done();
  }

  function done(): void {
    underWay -= 1;
    if (stopped) return;
    if (underWay === 0 && broken.length > 0) repairAll();
    else if (underWay === 0 && refused.length > 0) retry = setTimeout(again, RETRY_MS);
    else send();
  }

  function repairAll(): void {
    underWay += 1;
    repair(broken, overtaken).then((notStored) => {
      refused = [...notStored, ...refused];
      broken = [];
      overtaken = [];
      done();
    }, failed);
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
