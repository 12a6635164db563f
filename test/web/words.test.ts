import { describe, expect, test } from 'vitest';
import type { Connection } from '../../src/client/index.ts';
import { sizeWords } from '../../src/web/words/byte-size.ts';
import { connectionWords, retryWords } from '../../src/web/words/connection.ts';
import { countdownWords, durationWords } from '../../src/web/words/duration.ts';
import { jsonLine } from '../../src/web/words/json-line.ts';
import { agoWords } from '../../src/web/words/relative-time.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.parse('2026-12-01T12:00:00Z');

test.each([
  [-5, '0 ms'],
  [840, '840 ms'],
  [3240, '3.2 s'],
  [9990, '9.9 s'],
  [59_999, '59 s'],
  [4 * MINUTE, '4 min'],
  [4 * MINUTE + 10_000, '4 min 10 s'],
  [2 * HOUR + 5 * MINUTE, '2 h 5 min'],
  [3 * DAY + 4 * HOUR, '3 d 4 h'],
])('%d ms are %s', (ms, words) => {
  expect(durationWords(ms)).toBe(words);
});

test.each([
  [-1, '0:00'],
  [1, '0:01'],
  [42_000, '0:42'],
  [14 * MINUTE + 5000, '14:05'],
  [HOUR - 1, '60:00'],
  [26 * HOUR, '1 d 2 h'],
])('%d ms are left: %s', (ms, words) => {
  expect(countdownWords(ms)).toBe(words);
});

test.each([
  [-3000, 'now'],
  [59_000, 'now'],
  [5 * MINUTE, '5 min'],
  [3 * HOUR, '3 h'],
  [30 * HOUR, 'yesterday'],
  [4 * DAY, '4 d'],
  [20 * DAY, 'Nov 11'],
  [400 * DAY, 'Oct 27, 2025'],
])('%d ms ago is %s', (ago, words) => {
  expect(agoWords(NOW - ago, NOW, 'en-US')).toBe(words);
});

test.each([
  [812, '812 characters'],
  [1400, '1.4 KB'],
  [64_000, '64 KB'],
  [1_400_000, '1.4 MB'],
])('%d characters are %s', (length, words) => {
  expect(sizeWords(length)).toBe(words);
});

test.each([
  [null, ''],
  ['two\nlines', 'two lines'],
  [42, '42'],
  [{ city: 'Lisbon' }, 'Lisbon'],
  [{ guests: ['Ada'] }, 'guests: ["Ada"]'],
  [{ to: 'Porto', grams: 20 }, 'to: Porto, grams: 20'],
  ['a'.repeat(30), `${'a'.repeat(20)}…`],
])('%j is in one line %s', (value, line) => {
  expect(jsonLine(value, 20)).toBe(line);
});

describe('the connection', () => {
  const live: Connection = {
    status: 'live',
    since: NOW,
    retryAt: null,
    transport: 'streaming',
    role: 'alone',
    code: null,
  };

  test.each<[Partial<Connection>, number, string]>([
    [{}, 0, 'Live'],
    [{ transport: 'polling' }, 0, 'Live, by asking'],
    [{ status: 'connecting' }, 2000, 'Connecting'],
    [{ status: 'connecting' }, 12_000, 'Still connecting: no answer yet'],
    [{ status: 'catching-up' }, 0, 'Catching up'],
    [{ status: 'catching-up' }, 12_000, 'Catching up on much that happened'],
    [{ status: 'reconnecting', retryAt: NOW + 3000 }, 0, 'Connection lost, retrying in 3 s'],
    [{ status: 'offline', retryAt: NOW + 3000 }, 0, 'Offline'],
    [{ status: 'refused', code: 'forbidden' }, 0, 'Refused by the server (forbidden)'],
  ])('that is %o after %d ms is told as %s', (change, passed, words) => {
    expect(connectionWords({ ...live, ...change }, NOW + passed).text).toBe(words);
  });

  test('that waits can be tried at once', () => {
    expect(connectionWords({ ...live, status: 'reconnecting', retryAt: NOW + 3000 }, NOW).canRetry).toBe(true);
    expect(connectionWords(live, NOW).canRetry).toBe(false);
  });

  test('never counts below zero', () => {
    expect(retryWords('Lost', NOW - 5000, NOW)).toBe('Lost, retrying');
  });
});
