import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { RequestCounts } from '../store/access.ts';

/** Counts the requests of owners, each in a window that begins with the first. */
export interface RequestCount {
  /** @returns what the owner's window has come to with this one, as far as it is known here */
  add(owner: string): Promise<RateLimiterRes>;
  close(): void;
}

/** So long may others not know of what was let in here … */
const TELL_MS = 1000;
/** … and no more than this part of what is allowed. */
const UNTOLD_SHARE = 1 / 20;

/**
 * Each server counts by itself, and tells the others soon. Only the first of a window waits to hear from them. Between two
 * tellings each may let in a little that the others do not know of; while the database is away, it counts alone.
 *
 * @param max of a window
 * @param counts null where there are no others
 */
export function createRequestCount(max: number, windowSeconds: number, counts: RequestCounts | null): RequestCount {
  const known = new RateLimiterMemory({ points: max, duration: windowSeconds });
  const consume = (owner: string) => known.consume(owner).catch(toRefusal);
  return counts === null ? { add: consume, close() {} } : shareCount(known, consume, counts);
}

function shareCount(
  known: RateLimiterMemory,
  consume: RequestCount['add'],
  counts: Pick<RequestCounts, 'add'>,
): RequestCount {
  const most = Math.ceil(known.points * UNTOLD_SHARE);
  let untold = new Map<string, number>();
  let telling = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** Settles when what is untold now is told, or could not be: one telling at a time. */
  function tell(): Promise<void> {
    telling = telling.then(tellAll);
    return telling;
  }

  function tellSoon(): void {
    if (!isClosed) timer ??= setTimeout(tell, TELL_MS).unref();
  }

  async function tellAll(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (untold.size === 0) return;
    const told = untold;
    untold = new Map();
    try {
      const windows = await counts.add(told, known.duration * 1000);
      for (const [owner, { count, leftMs }] of windows) {
        // What came meanwhile is not in it.
        const all = count + (untold.get(owner) ?? 0);
        await (leftMs > 0 ? known.set(owner, all, leftMs / 1000) : known.delete(owner));
      }
    } catch {
      await keep(told);
    }
  }

  /** The database is away, which its own watch tells of: what its windows are not over for is told when it is back. */
  async function keep(told: ReadonlyMap<string, number>): Promise<void> {
    for (const [owner, count] of told) {
      if ((await known.get(owner)) !== null) untold.set(owner, count + (untold.get(owner) ?? 0));
    }
    tellSoon();
  }

  return {
    async add(owner) {
      const mine = await consume(owner);
      if (mine.consumedPoints > known.points) return mine;
      const count = mine.isFirstInDuration ? 1 : (untold.get(owner) ?? 0) + 1;
      untold.set(owner, count);
      if (mine.isFirstInDuration) {
        await tell();
        return (await known.get(owner)) ?? mine;
      }
      if (count >= most) void tell();
      else tellSoon();
      return mine;
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** The limiter rejects with the count of what was too much. */
function toRefusal(reason: unknown): RateLimiterRes {
  if (reason instanceof RateLimiterRes) return reason;
  throw reason;
}
