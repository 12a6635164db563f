import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Coalescer, DELTA_BYTES, DELTA_EVERY_MS, MAX_DELTA_LENGTH } from '../../src/worker/coalesce.ts';

describe('a coalescer', () => {
  let sent: string[];
  let coalescer: Coalescer;

  beforeEach(() => {
    vi.useFakeTimers();
    sent = [];
    coalescer = new Coalescer((text) => sent.push(text));
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  test('sends the first token at once and gathers what follows for 50 ms', () => {
    coalescer.push('a');
    coalescer.push('b');
    vi.advanceTimersByTime(DELTA_EVERY_MS - 1);
    expect(sent).toEqual(['a']);

    coalescer.push('c');
    vi.advanceTimersByTime(1);

    expect(sent).toEqual(['a', 'bc']);
  });

  test('sends a token at once when the last delta is more than 50 ms ago', () => {
    coalescer.push('a');
    vi.advanceTimersByTime(DELTA_EVERY_MS);

    coalescer.push('b');

    expect(sent).toEqual(['a', 'b']);
  });

  test('does not wait for the end of the 50 ms when it has gathered 1 KiB', () => {
    coalescer.push('a');
    coalescer.push('é'.repeat(DELTA_BYTES / 2 - 1));
    expect(sent).toHaveLength(1);

    coalescer.push('é');

    expect(sent).toEqual(['a', 'é'.repeat(DELTA_BYTES / 2)]);
  });

  test('keeps the first half of a surrogate pair until the second has come', () => {
    const [high, low] = ['\ud83d', '\ude80'];

    coalescer.push(`a${high}`);
    vi.advanceTimersByTime(DELTA_EVERY_MS);
    coalescer.push(`${low}b`);
    vi.advanceTimersByTime(DELTA_EVERY_MS);

    expect(sent).toEqual(['a', '🚀b']);
  });

  test('sends nothing for a lone first half until the end', () => {
    coalescer.push('\ud83d');
    vi.advanceTimersByTime(DELTA_EVERY_MS * 2);
    expect(sent).toEqual([]);

    coalescer.end();

    expect(sent).toEqual(['\ud83d']);
  });

  test('sends what is left at the end, and nothing when nothing is left', () => {
    coalescer.push('a');
    coalescer.push('b');
    coalescer.end();
    coalescer.end();
    vi.advanceTimersByTime(DELTA_EVERY_MS);

    expect(sent).toEqual(['a', 'b']);
  });

  test('sends nothing for empty text', () => {
    coalescer.push('');
    coalescer.end();

    expect(sent).toEqual([]);
  });

  test('cuts a huge piece between code points', () => {
    const text = `a${'🚀'.repeat(MAX_DELTA_LENGTH)}`;

    coalescer.push(text);

    expect(sent.join('')).toBe(text);
    expect(Math.max(...sent.map((piece) => piece.length))).toBeLessThanOrEqual(MAX_DELTA_LENGTH);
    expect(sent.filter((piece) => /\p{Surrogate}/u.test(piece))).toEqual([]);
  });

  test('sends nothing more once it was stopped', () => {
    coalescer.push('a');
    coalescer.push('b');
    coalescer.stop();
    vi.advanceTimersByTime(DELTA_EVERY_MS * 2);

    expect(sent).toEqual(['a']);
  });
});
