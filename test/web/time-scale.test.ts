import { describe, expect, test } from 'vitest';
import type { Span } from '../../src/web/task/spans.ts';
import { timeScale } from '../../src/web/task/time-scale.ts';

function wait(from: number, to: number | null): Span {
  const more = { key: `${from}`, name: 'Waiting', attempt: 1, tool: null, error: null } as const;
  return { kind: 'waiting', status: to === null ? 'open' : 'done', from, to, ...more };
}

describe('the time scale', () => {
  test('is even where nothing waits', () => {
    const { place, pauses } = timeScale([], 1000, 2000);

    expect([1000, 1250, 2000].map(place)).toEqual([0, 0.25, 1]);
    expect(pauses).toEqual([]);
  });

  test('draws a wait that is not long as long as it is', () => {
    expect(timeScale([wait(100, 110)], 0, 1000).pauses).toEqual([]);
  });

  test('draws a wait of a day as a fifth of the work around it', () => {
    const day = 86_400_000;
    const { place, pauses } = timeScale([wait(1000, 1000 + day)], 0, 2000 + day);

    expect(pauses).toEqual([{ from: 1000, to: 1000 + day }]);
    expect(place(1000)).toBeCloseTo(1000 / 2400);
    expect(place(1000 + day)).toBeCloseTo(1400 / 2400);
    expect(place(2000 + day)).toBe(1);
  });

  test('takes waits at the same time for one', () => {
    expect(timeScale([wait(100, 900), wait(200, 950)], 0, 1000).pauses).toEqual([{ from: 100, to: 950 }]);
  });

  test('ends an open wait at the end of the picture', () => {
    expect(timeScale([wait(100, null)], 0, 1000).pauses).toEqual([{ from: 100, to: 1000 }]);
  });

  test('never goes backwards, nor beyond its edges', () => {
    const { place } = timeScale([wait(100, 5000), wait(6000, 90_000)], 0, 100_000);
    const places = Array.from({ length: 200 }, (_, n) => place(n * 600 - 5000));

    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(Math.min(...places)).toBe(0);
    expect(Math.max(...places)).toBe(1);
  });
});
