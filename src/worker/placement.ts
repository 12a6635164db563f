import type { Lease } from '../model/fence.ts';
import type { Suspicions } from './suspicions.ts';

/** A thread as a place for copies. */
export interface Place {
  readonly isHealthy: boolean;
  readonly freeSlots: number;
  /** The unfinished copies in it. */
  readonly copies: readonly Lease[];
}

/** A task that was in so many threads that ended by nobody knows whose doing is kept apart from others like it. */
const APART_AFTER_DEATHS = 2;
/** So many threads there may be, at first, that each have one such task for themselves. With every death it may be more. */
const ALONE_AT_ONCE = 4;

/** Whether a task should have a thread for itself, so that it is known who did it if that ends too. */
export function isBetterAlone(deaths: number, aloneNow: number): boolean {
  return deaths >= APART_AFTER_DEATHS && aloneNow < ALONE_AT_ONCE * (deaths - 1);
}

/**
 * The thread with the most free slots; for a task that is to be kept apart, of those that hold the fewest like it. One that
 * does not answer is not taken: it may be in a loop that never ends.
 */
export function placeFor<P extends Place>(taskId: string, places: readonly P[], suspicions: Suspicions): P | null {
  const isSuspect = (id: string) => suspicions.of(id) >= APART_AFTER_DEATHS;
  const suspects = ({ copies }: P) => copies.filter((copy) => isSuspect(copy.taskId)).length;
  const answering = places.filter(({ isHealthy }) => isHealthy);
  if (!isSuspect(taskId)) return freest(answering);
  const fewest = Math.min(...answering.map(suspects));
  return freest(answering.filter((place) => suspects(place) === fewest));
}

export function freest<P extends Place>(places: readonly P[]): P | null {
  const [first, ...others] = places;
  if (first === undefined) return null;
  return others.reduce((best, place) => (place.freeSlots > best.freeSlots ? place : best), first);
}
