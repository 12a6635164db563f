import { describe, expect, test } from 'vitest';
import { isRetryable, parseRetryAfter, retryDelay, withRetryDefaults } from '../../src/worker/retry.ts';

const RETRY = withRetryDefaults({ attempts: 10 });
const highest = () => 1;

function hostile(): never {
  throw new Error('hostile');
}

function withFields(fields: object): Error {
  return Object.assign(new Error('refused'), fields);
}

describe('the delay before the next attempt', () => {
  test('doubles up to its bound', () => {
    const delays = [1, 2, 3, 7, 8].map((attempt) => retryDelay(new Error('x'), attempt, RETRY, highest));

    expect(delays).toEqual([500, 1000, 2000, 30_000, 30_000]);
  });

  test('is drawn from zero up', () => {
    expect(retryDelay(new Error('x'), 3, RETRY, () => 0)).toBe(0);
    expect(retryDelay(new Error('x'), 3, RETRY, () => 0.5)).toBe(1000);
  });

  test('is none after the last attempt', () => {
    expect(retryDelay(new Error('x'), 9, RETRY, highest)).not.toBeNull();
    expect(retryDelay(new Error('x'), 10, RETRY, highest)).toBeNull();
  });

  test.each([
    ['its own field', { retryAfterMs: 1234 }, 1234],
    ['Headers', { headers: new Headers({ 'Retry-After': '2' }) }, 2000],
    ['plain headers', { responseHeaders: { 'Retry-After': '2' } }, 2000],
    ['its response', { response: { headers: new Headers({ 'retry-after': '2' }) } }, 2000],
  ])('is what the server asks for in %s', (_, fields, ms) => {
    expect(retryDelay(withFields({ status: 429, ...fields }), 1, RETRY, highest)).toBe(ms);
  });

  test.each([
    ['a field of it throws', Object.defineProperty(new Error('x'), 'status', { get: hostile })],
    [
      'its headers throw',
      withFields({ headers: Object.defineProperty({}, 'retry-after', { get: hostile, enumerable: true }) }),
    ],
    ['its kind cannot be told', new Proxy(new Error('x'), { getPrototypeOf: hostile })],
  ])('is none when %s', (_, error) => {
    expect(retryDelay(error, 1, RETRY, highest)).toBeNull();
  });

  test('is none when the server asks for more than maxMs', () => {
    expect(retryDelay(withFields({ status: 429, retryAfterMs: 30_001 }), 1, RETRY, highest)).toBeNull();
  });
});

describe('a failure', () => {
  test.each([408, 425, 429, 500, 502, 503, 529])('with status %i may pass', (status) => {
    expect(isRetryable(withFields({ status }))).toBe(true);
    expect(isRetryable(withFields({ statusCode: status }))).toBe(true);
  });

  test.each([400, 401, 403, 404, 409, 422])('with status %i will come again', (status) => {
    expect(isRetryable(withFields({ status }))).toBe(false);
  });

  test.each([TypeError, ReferenceError, SyntaxError, RangeError])(
    'that is a mistake in the code will come again: %o',
    (Mistake) => {
      expect(isRetryable(new Mistake('x is not a function'))).toBe(false);
    },
  );

  test('of the network may pass, though fetch calls it a TypeError', () => {
    const cause = withFields({ code: 'ECONNREFUSED' });

    expect(isRetryable(new TypeError('fetch failed', { cause }))).toBe(true);
    expect(isRetryable(withFields({ code: 'UND_ERR_SOCKET' }))).toBe(true);
  });

  test('of no known kind may pass, whatever was thrown', () => {
    expect([new Error('busy'), 'busy', null, undefined].map(isRetryable)).toEqual([true, true, true, true]);
  });

  test('whose causes lead in a circle is judged all the same', () => {
    const error = new TypeError('x');
    error.cause = error;

    expect(isRetryable(error)).toBe(false);
  });
});

test('Retry-After is seconds or a date, never less than nothing', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');

  expect(parseRetryAfter('120', now)).toBe(120_000);
  expect(parseRetryAfter('Thu, 01 Jan 2026 00:00:05 GMT', now)).toBe(5000);
  expect(parseRetryAfter('Thu, 01 Jan 2025 00:00:05 GMT', now)).toBe(0);
  expect(parseRetryAfter('soon', now)).toBeNull();
});

test.each([{ attempts: 0 }, { attempts: 1.5 }, { baseMs: -1 }, { maxMs: Number.POSITIVE_INFINITY }])(
  'refuses the options %o',
  (options) => {
    expect(() => withRetryDefaults(options)).toThrow(TypeError);
  },
);
