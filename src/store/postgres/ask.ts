import { performance } from 'node:perf_hooks';
import { isLoss } from './failure.ts';
import type { Link } from './link.ts';
import type { Links } from './links.ts';

/** Sends a statement and gives what comes back: as a {@link Link} does, on whichever connection it is. */
export type Ask = Link['ask'];

/** A connection that has been idle may have been lost unnoticed, and then says so soon. */
const SOON_MS = 1_000;

/**
 * Does on a connection what may as well be done twice: again on another one if it broke.
 *
 * @throws whatever the second try throws, or the first if it took long
 */
export async function useAgain<T>(links: Links, work: (link: Link) => Promise<T>): Promise<T> {
  const begunAt = performance.now();
  try {
    return await links.use(work);
  } catch (error) {
    if (!isLoss(error) || performance.now() - begunAt > SOON_MS) throw error;
    return links.use(work);
  }
}
