import type { Waker } from '../../src/client/environment.ts';

/** A waker that is rung by hand, and tells of the pauses. */
export interface HandWaker extends Waker {
  wake(): void;
  /** How many pauses there are now. */
  readonly size: number;
  /** Resolves once something waits. */
  pauses(): Promise<void>;
}

export function createHandWaker(): HandWaker {
  const listeners = new Set<() => void>();
  const waiting = new Set<() => void>();
  return {
    onWake(listener) {
      const own = () => listener('attention');
      listeners.add(own);
      for (const resolve of waiting) resolve();
      waiting.clear();
      return () => listeners.delete(own);
    },
    wake() {
      for (const listener of [...listeners]) listener();
    },
    get size() {
      return listeners.size;
    },
    pauses: () => new Promise((resolve) => (listeners.size > 0 ? resolve() : waiting.add(resolve))),
  };
}
