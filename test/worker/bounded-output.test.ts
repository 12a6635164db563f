import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { boundOutput, MAX_LENGTH, MAX_WRITES } from '../../src/worker/bounded-output.ts';

let written: string[];
let output: { write(chunk: string | Uint8Array, ...rest: unknown[]): boolean };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  written = [];
  output = { write: (chunk) => written.push(String(chunk)) > 0 };
  boundOutput(output);
});
afterEach(() => void vi.useRealTimers());

const write = (count: number) => {
  for (let n = 0; n < count; n++) output.write(`${n}\n`);
};

test('lets through what is little', () => {
  write(MAX_WRITES);
  vi.advanceTimersByTime(1000);
  write(MAX_WRITES);

  expect(written).toHaveLength(2 * MAX_WRITES);
});

test('drops what is too much, and tells how much when the second is over', () => {
  write(MAX_WRITES + 5);
  expect(written).toHaveLength(MAX_WRITES);

  vi.advanceTimersByTime(1000);

  expect(written.slice(MAX_WRITES)).toEqual(['[holdfast] 5 writes to the console were too many in a second.\n']);
});

test('tells with the next write when the thread was too busy for the timer, and only once', () => {
  write(MAX_WRITES + 5);
  const later = performance.now() + 1000;
  vi.spyOn(performance, 'now').mockReturnValue(later);

  output.write('after');
  vi.advanceTimersByTime(5000);
  vi.restoreAllMocks();

  expect(written.slice(MAX_WRITES)).toEqual([expect.stringContaining('5 writes'), 'after']);
});

test('drops a text that is too long, and what follows it', () => {
  output.write('x'.repeat(MAX_LENGTH));
  output.write('y');

  expect(written).toHaveLength(1);
});

test('calls back for what it drops', async () => {
  write(MAX_WRITES);

  await new Promise((resolve) => output.write('more', 'utf8', resolve));

  expect(written).toHaveLength(MAX_WRITES);
});
