/**
 * Keeps several processes from running after the same tasks: what another was faster to claim is left alone for a moment,
 * and from then on each begins somewhere else among what is offered to all.
 */
export interface Contest {
  /** A claim was refused. */
  lost(taskId: string): void;
  /** Leaves a task to others for so long. */
  spare(taskId: string, ms: number): void;
  /** Leaves it to nobody any more. */
  want(taskId: string): void;
  /** How many are left to others now. */
  readonly spared: number;
  /** Those that are not. */
  open<Candidate extends { taskId: string }>(candidates: readonly Candidate[]): Candidate[];
  /** Where among so many candidates to begin that so many can be taken: the first, as long as nobody else is about. */
  begin(candidates: number, taken: number): number;
}

const LOST_MS = 200;
const CONTESTED_MS = 1000;

export interface ContestOptions {
  /** Ms from any beginning. */
  clock?: () => number;
  /** 0 ≤ x < 1 */
  random?: () => number;
}

export function createContest({ clock = () => performance.now(), random = Math.random }: ContestOptions = {}): Contest {
  /** Until when. */
  const spared = new Map<string, number>();
  let lastLost = Number.NEGATIVE_INFINITY;

  function forget(): void {
    const now = clock();
    for (const [taskId, until] of spared) if (until <= now) spared.delete(taskId);
  }

  function spare(taskId: string, ms: number): void {
    spared.set(taskId, clock() + ms);
  }

  return {
    lost(taskId) {
      lastLost = clock();
      spare(taskId, LOST_MS);
    },
    spare,
    want: (taskId) => void spared.delete(taskId),
    get spared() {
      forget();
      return spared.size;
    },
    open(candidates) {
      forget();
      return candidates.filter(({ taskId }) => !spared.has(taskId));
    },
    begin(candidates, taken) {
      const isContested = clock() - lastLost < CONTESTED_MS;
      return isContested ? Math.floor(random() * (candidates - taken + 1)) : 0;
    },
  };
}
