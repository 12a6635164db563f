export interface Dice {
  /** 0 ≤ n < below */
  below(below: number): number;
  pick<T>(items: readonly T[]): T;
}

/** The same throws for the same seed (mulberry32). */
export function diceOf(seed: number): Dice {
  let state = seed;
  function below(n: number): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * n);
  }
  return { below, pick: <T>(items: readonly T[]) => items[below(items.length)] as T };
}
