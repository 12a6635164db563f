/** Which rows of a long list are drawn, and how far down the first of them is. */
export interface RowWindow {
  from: number;
  /** Exclusive. */
  to: number;
  offsetPx: number;
  totalPx: number;
}

export interface RowSizes {
  count: number;
  rowPx: number;
  /** By how much rows are higher than that, by their place. */
  extraPx: ReadonlyMap<number, number>;
}

/** How many rows are drawn beyond both edges. */
const SPARE_ROWS = 8;

export function rowWindow({ count, rowPx, extraPx }: RowSizes, scrollPx: number, viewPx: number): RowWindow {
  const extras = [...extraPx].filter(([index]) => index < count).sort(([a], [b]) => a - b);
  const totalPx = count * rowPx + extras.reduce((sum, [, px]) => sum + px, 0);
  const topOf = (index: number) => index * rowPx + extras.reduce((sum, [at, px]) => (at < index ? sum + px : sum), 0);
  const rowAt = (px: number) => {
    let passed = 0;
    for (const [index, extra] of extras) {
      const bottom = (index + 1) * rowPx + passed + extra;
      if (px < bottom) return Math.min(index, Math.floor((px - passed) / rowPx));
      passed += extra;
    }
    return Math.floor((px - passed) / rowPx);
  };
  const from = clamp(rowAt(scrollPx) - SPARE_ROWS, count);
  const to = clamp(rowAt(scrollPx + viewPx) + 1 + SPARE_ROWS, count);
  return { from, to, offsetPx: topOf(from), totalPx };
}

function clamp(index: number, count: number): number {
  return Math.min(count, Math.max(0, index));
}
