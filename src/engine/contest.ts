/**
 * Keeps several processes from running after the same tasks: what another was faster to claim is left alone for a moment,
 * and from then on each begins somewhere else among what is offered to all.
 */
export interface Contest {
  /** A claim was refused. */
  lost(taskId: string): void;
  /** How many are left alone now. */
  readonly leftAlone: number;
  /** Those that are not. */
  open<Candidate extends { taskId: string }>(candidates: readonly Candidate[]): Candidate[];
  /** Where among so many candidates to begin that so many can be taken: the first, as long as nobody else is about. */
  begin(candidates: number, taken: number): number;
}

const LEFT_ALONE_MS = 200;
const CONTESTED_MS = 1000;

export interface ContestOptions {
  /** Ms from any beginning. */
  clock?: () => number;
  /** 0 ≤ x < 1 */
  random?: () => number;
}

export function createContest({ clock = () => performance.now(), random = Math.random }: ContestOptions = {}): Contest {
  /** Since when, the longest first. */
  const left = new Map<string, number>();
  let lastLost = Number.NEGATIVE_INFINITY;

  function forget(): void {
    for (const [taskId, since] of left) {
      if (clock() - since < LEFT_ALONE_MS) return;
      left.delete(taskId);
    }
  }

  return {
    lost(taskId) {
      lastLost = clock();
      left.delete(taskId);
      left.set(taskId, lastLost);
    },
    get leftAlone() {
      forget();
      return left.size;
    },
    open(candidates) {
      forget();
      return candidates.filter(({ taskId }) => !left.has(taskId));
    },
    begin(candidates, taken) {
      const isContested = clock() - lastLost < CONTESTED_MS;
      return isContested ? Math.floor(random() * (candidates - taken + 1)) : 0;
    },
  };
}
