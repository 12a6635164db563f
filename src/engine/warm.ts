/**
 * Which copies that wait are kept in memory, so that what wakes their tasks finds them there: a while, and not too many. It
 * is only a cache. A copy that was parked costs nothing any more, and its task goes on by replay.
 *
 * @see docs/decisions/007-one-kind-of-waiting.md
 */
export interface WarmCopies {
  /** Keeps a copy from now on, and parks the oldest when there are too many. */
  keep(taskId: string): void;
  /** No longer parks this one: it is about to be used, or gone. */
  take(taskId: string): void;
  readonly size: number;
}

const MAX_WARM = 1000;

export interface WarmOptions {
  /** How long each is kept; 0 keeps none. */
  warmMs: number;
  /** Called when a copy has been kept long enough. It is no longer kept. */
  park(taskId: string): void;
}

export function createWarmCopies({ warmMs, park }: WarmOptions): WarmCopies {
  /** Oldest first. */
  const timers = new Map<string, NodeJS.Timeout>();

  function take(taskId: string): void {
    clearTimeout(timers.get(taskId));
    timers.delete(taskId);
  }

  function parkNow(taskId: string): void {
    take(taskId);
    park(taskId);
  }

  return {
    keep(taskId) {
      if (warmMs === 0) return park(taskId);
      timers.set(taskId, setTimeout(parkNow, warmMs, taskId).unref());
      const [oldest] = timers.keys();
      if (timers.size > MAX_WARM && oldest !== undefined) parkNow(oldest);
    },
    take,
    get size() {
      return timers.size;
    },
  };
}
