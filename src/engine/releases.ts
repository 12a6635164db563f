import type { Lease } from '../model/fence.ts';

/** A copy that was told to stop while its task was still held. `worker`: null when it was never heard of. */
export interface LeavingCopy extends Lease {
  owner: string;
  worker: number | null;
}

/**
 * Waits until the workers have let go of copies whose tasks have ended without them, so that what comes next under the same
 * `concurrencyKey` does not run beside them. Code that does not stop is given up after a while.
 *
 * @see docs/decisions/008-fence-every-write.md
 */
export interface Releases {
  add(copy: LeavingCopy): void;
  /** Nothing of the copy runs any more. Others than those that were added are ignored. */
  released(lease: Lease): void;
  /** Whether it is waited for that this one lets go. */
  has(lease: Lease): boolean;
  /** Gives up all of them at once. */
  releaseAll(): void;
}

const LET_GO_MS = 10_000;
/** So many copies in one thread that do not stop are too many. */
const MAX_DEAF = 64;

export interface ReleasesOptions {
  /** The task may be held no longer. Once for each copy. */
  release(copy: LeavingCopy): void;
  /** Too much code in this thread does not stop: it should be replaced. */
  retire(worker: number): void;
}

export function createReleases({ release, retire }: ReleasesOptions): Releases {
  const leaving = new Map<string, { copy: LeavingCopy; timer: NodeJS.Timeout }>();
  /** Those that were given up and may still run: their workers, by copy. */
  const deaf = new Map<string, number>();

  function giveUp(id: string, copy: LeavingCopy): void {
    leaving.delete(id);
    release(copy);
    const { worker } = copy;
    if (worker === null) return;
    deaf.set(id, worker);
    const same = [...deaf].filter(([, each]) => each === worker);
    if (same.length <= MAX_DEAF) return;
    for (const [each] of same) deaf.delete(each);
    retire(worker);
  }

  return {
    add(copy) {
      const id = idOf(copy);
      leaving.set(id, { copy, timer: setTimeout(giveUp, LET_GO_MS, id, copy).unref() });
    },
    released(lease) {
      const id = idOf(lease);
      deaf.delete(id);
      const left = leaving.get(id);
      if (left === undefined) return;
      clearTimeout(left.timer);
      leaving.delete(id);
      release(left.copy);
    },
    has: (lease) => leaving.has(idOf(lease)),
    releaseAll() {
      for (const { copy, timer } of leaving.values()) {
        clearTimeout(timer);
        release(copy);
      }
      leaving.clear();
    },
  };
}

function idOf({ taskId, fence }: Lease): string {
  return `${taskId} ${fence}`;
}
