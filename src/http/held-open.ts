import type { Metrics } from './metrics.ts';

/** What is held open for clients: so many for an owner, and so many in all. */
export interface HeldOpen {
  /** Takes a place. @returns what gives it back, to be called once; null when there is none left */
  enter(owner: string, kind: 'stream' | 'wait'): (() => void) | null;
}

export interface HeldOpenOptions {
  max: number;
  /** Null for as many as there are in all. */
  maxPerOwner: number | null;
  refused: Metrics['overload']['refused'];
}

export function createHeldOpen({ max, maxPerOwner, refused }: HeldOpenOptions): HeldOpen {
  const counts = new Map<string, number>();
  let all = 0;

  function add(owner: string, by: number): void {
    all += by;
    const own = (counts.get(owner) ?? 0) + by;
    if (own === 0) counts.delete(owner);
    else counts.set(owner, own);
  }

  return {
    enter(owner, kind) {
      if (all < max && (counts.get(owner) ?? 0) < (maxPerOwner ?? max)) {
        add(owner, 1);
        return () => add(owner, -1);
      }
      refused.inc({ reason: kind });
      return null;
    },
  };
}
