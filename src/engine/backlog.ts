import type { Log } from './log.ts';

/** What was given to the log and is not answered yet: the writer takes it in this order. */
export interface Backlog {
  /** How many commits. */
  readonly count: number;
  /** For how long the oldest of them has waited, in ms; 0 when there is none. */
  oldestMs(): number;
}

/** The same log, with a look at what waits in it. */
export function watchBacklog(log: Log): { log: Log; backlog: Backlog } {
  const asked = new Set<{ at: number }>();
  return {
    log: {
      async commit(owner, calls) {
        const mine = { at: performance.now() };
        asked.add(mine);
        try {
          return await log.commit(owner, calls);
        } finally {
          asked.delete(mine);
        }
      },
    },
    backlog: {
      get count() {
        return asked.size;
      },
      oldestMs() {
        const [oldest] = asked;
        return oldest === undefined ? 0 : performance.now() - oldest.at;
      },
    },
  };
}
