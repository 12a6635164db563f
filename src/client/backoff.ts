const FIRST_MS = 500;
const MOST_MS = 15_000;

/**
 * How long to wait before the next attempt: twice as long after each failure, anywhere up to that, so that the clients
 * of a server that was away do not all come back at once.
 *
 * @param failures in a row, at least 1
 */
export function backoffMs(failures: number): number {
  return Math.random() * Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(failures, 16));
}
