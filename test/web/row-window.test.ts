import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rowWindow } from '../../src/web/task/row-window.ts';

const ROW = 34;

describe('the window of rows', () => {
  test('holds those in sight and a few beyond', () => {
    const rows = rowWindow({ count: 50_000, rowPx: ROW, extraPx: new Map() }, 1000 * ROW, 10 * ROW);

    expect(rows).toEqual({ from: 992, to: 1019, offsetPx: 992 * ROW, totalPx: 50_000 * ROW });
  });

  test('holds all of a short list', () => {
    expect(rowWindow({ count: 3, rowPx: ROW, extraPx: new Map() }, 0, 500)).toMatchObject({ from: 0, to: 3 });
  });

  test('holds nothing of an empty one', () => {
    const empty = rowWindow({ count: 0, rowPx: ROW, extraPx: new Map() }, 0, 500);

    expect(empty).toEqual({ from: 0, to: 0, offsetPx: 0, totalPx: 0 });
  });

  test('always covers what is in sight, whichever rows are higher', () => {
    const list = fc.record({
      count: fc.integer({ min: 1, max: 500 }),
      extras: fc.array(fc.tuple(fc.nat(499), fc.integer({ min: 1, max: 900 })), { maxLength: 8 }),
      scroll: fc.nat(30_000),
      view: fc.integer({ min: 1, max: 900 }),
    });
    fc.assert(
      fc.property(list, ({ count, extras, scroll, view }) => {
        const extraPx = new Map(extras);
        const heightOf = (index: number) => ROW + (extraPx.get(index) ?? 0);
        const heights = Array.from({ length: count }, (_, index) => heightOf(index));
        const totalPx = heights.reduce((sum, px) => sum + px, 0);
        const top = Math.min(scroll, Math.max(0, totalPx - view));

        const rows = rowWindow({ count, rowPx: ROW, extraPx }, top, view);

        const drawn = heights.slice(rows.from, rows.to).reduce((sum, px) => sum + px, 0);
        expect(rows.totalPx).toBe(totalPx);
        expect(rows.offsetPx).toBe(heights.slice(0, rows.from).reduce((sum, px) => sum + px, 0));
        expect(rows.offsetPx).toBeLessThanOrEqual(top);
        expect(rows.offsetPx + drawn).toBeGreaterThanOrEqual(Math.min(totalPx, top + view));
      }),
    );
  });
});
