/** Holds back those who wait, each until it is let go, the first first. */
export interface Gate {
  wait(): Promise<void>;
  /** @returns false when nobody waits */
  letOne(): boolean;
  readonly waiting: number;
}

export function createGate(): Gate {
  const waiting: (() => void)[] = [];
  return {
    wait: () => new Promise((resolve) => waiting.push(resolve)),
    letOne() {
      const first = waiting.shift();
      first?.();
      return first !== undefined;
    },
    get waiting() {
      return waiting.length;
    },
  };
}
