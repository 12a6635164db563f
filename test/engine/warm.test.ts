import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createWarmCopies, type WarmCopies } from '../../src/engine/warm.ts';

let parked: string[];

beforeEach(() => {
  parked = [];
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

function keepFor(warmMs: number): WarmCopies {
  return createWarmCopies({ warmMs, park: (taskId) => parked.push(taskId) });
}

test('parks a copy when it has been kept for its time', () => {
  const warm = keepFor(10_000);
  warm.keep('a');
  vi.advanceTimersByTime(5000);
  warm.keep('b');

  vi.advanceTimersByTime(5000);
  expect(parked).toEqual(['a']);

  vi.advanceTimersByTime(5000);
  expect(parked).toEqual(['a', 'b']);
  expect(warm.size).toBe(0);
});

test('parks none that was taken, and counts anew for one that is kept again', () => {
  const warm = keepFor(10_000);
  warm.keep('a');
  vi.advanceTimersByTime(9999);
  warm.take('a');
  vi.advanceTimersByTime(10_000);
  expect(parked).toEqual([]);

  warm.keep('a');
  vi.advanceTimersByTime(9999);
  expect(parked).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(parked).toEqual(['a']);
});

test('keeps a thousand, and parks the one that has waited longest for each more', () => {
  const warm = keepFor(10_000);
  for (let n = 0; n < 1000; n++) warm.keep(`${n}`);
  warm.take('0');
  expect(parked).toEqual([]);

  warm.keep('1000');
  warm.keep('1001');
  warm.keep('1002');

  expect(parked).toEqual(['1', '2']);
  expect(warm.size).toBe(1000);
});

test('keeps none when told so', () => {
  const warm = keepFor(0);

  warm.keep('a');

  expect(parked).toEqual(['a']);
  expect(warm.size).toBe(0);
});
