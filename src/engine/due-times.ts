/** The instants at which something falls due that this process has written; epoch ms. */
export interface DueTimes {
  add(at: number): void;
  /** The earliest; null when there is none. */
  next(): number | null;
  /** Forgets those up to an instant. @returns whether there were any */
  pass(now: number): boolean;
}

/** What is more is left to the process that looks for all. */
const MOST = 10_000;

export function createDueTimes(): DueTimes {
  /** The latest first, each once. */
  const times: number[] = [];

  /** How many are later. */
  function later(at: number): number {
    let low = 0;
    let high = times.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((times[middle] ?? at) > at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    add(at) {
      const place = later(at);
      if (times[place] === at) return;
      times.splice(place, 0, at);
      if (times.length > MOST) times.shift();
    },
    next: () => times.at(-1) ?? null,
    pass: (now) => times.splice(later(now)).length > 0,
  };
}
