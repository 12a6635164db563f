/** How far the server's clock is ahead of `performance.now()`: no less than `least` and no more than `most`, in ms. */
export interface ClockBounds {
  least: number;
  most: number;
}

export interface ServerClock {
  /** Epoch ms by the server's clock, as well as it is known; by the device's until the server has said anything. */
  now(): number;
  /** Learns from a response: its `Date`, which has no milliseconds, and when it was asked for and came, in `performance.now()`. */
  heardDate(date: string, askedAt: number, cameAt: number): void;
  /** Learns from something that has happened on the server before now. */
  heardOf(at: string): void;
}

const DATE_PRECISION_MS = 1000;

/**
 * Tells the server's time, whatever the device's clock says. Everything that the server says bounds the offset from one
 * side or both; the truth is where all bounds meet. Where they do not meet, the device has slept or a clock was set, and
 * only the newest is believed.
 */
export function createServerClock(monotonicNow: () => number, deviceNow: () => number): ServerClock {
  let bounds: ClockBounds | null = null;
  const learn = (newer: ClockBounds) => {
    bounds = narrowed(bounds, newer);
  };
  return {
    now() {
      if (bounds === null) return deviceNow();
      return monotonicNow() + middle(bounds);
    },
    heardDate(date, askedAt, cameAt) {
      const at = Date.parse(date);
      if (!Number.isNaN(at)) learn({ least: at - cameAt, most: at + DATE_PRECISION_MS - askedAt });
    },
    heardOf(at) {
      learn({ least: Date.parse(at) - monotonicNow(), most: Number.POSITIVE_INFINITY });
    },
  };
}

export function narrowed(known: ClockBounds | null, newer: ClockBounds): ClockBounds {
  if (known === null) return newer;
  const least = Math.max(known.least, newer.least);
  const most = Math.min(known.most, newer.most);
  return least <= most ? { least, most } : newer;
}

function middle({ least, most }: ClockBounds): number {
  return most === Number.POSITIVE_INFINITY ? least : (least + most) / 2;
}
