import { performance } from 'node:perf_hooks';

/** Epoch ms by the database's clock, at this very moment. A subquery, so that an index can be searched by it. */
export const NOW_MS = '(select floor(extract(epoch from clock_timestamp()) * 1000)::bigint)';

/** What a process knows of the database's clock. */
export interface DatabaseClock {
  /**
   * Takes in what it said.
   *
   * @param databaseNow epoch ms
   * @param sentAt when it was asked, by `performance.now()`: it was no earlier
   * @param receivedAt when the answer had come: it was no later
   */
  learn(databaseNow: number, sentAt: number, receivedAt?: number): void;
  /** Epoch ms as the database would say now, give or take the fastest answer so far. Before the first by the own clock. */
  now(): number;
}

/** Runs on by a clock that nobody sets. Only what an answer contradicts is mended, so that slow ones change nothing. */
export function createDatabaseClock(): DatabaseClock {
  let offset = performance.timeOrigin;
  return {
    learn(databaseNow, sentAt, receivedAt = performance.now()) {
      // It has told whole ms.
      offset = Math.min(Math.max(offset, databaseNow - receivedAt), databaseNow + 1 - sentAt);
    },
    now: () => Math.floor(performance.now() + offset),
  };
}
