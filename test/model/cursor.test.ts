import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatCursor, parseStartPoint } from '../../src/model/cursor.ts';

const epoch = fc.string({
  unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789'),
  minLength: 8,
  maxLength: 8,
});
const seq = fc.oneof(fc.nat(20), fc.maxSafeNat());

test('reads back every cursor that it has written', () => {
  fc.assert(
    fc.property(epoch, seq, fc.option(seq), (e, s, until) => {
      expect(parseStartPoint(formatCursor(e, s, until))).toEqual({ epoch: e, seq: s, until });
    }),
    { seed: 1, numRuns: 500 },
  );
});

test('knows one text for each place', () => {
  const almost = fc.tuple(
    fc.constantFrom('k3f9x2ab', 'K3f9x2ab', 'k3f9x2a'),
    fc.array(fc.constantFrom('.', '.0', '0', '1', '-', '9')),
  );
  fc.assert(
    fc.property(almost, ([e, rest]) => {
      const text = e + rest.join('');
      const point = parseStartPoint(text);

      expect(
        point === null || (typeof point === 'object' && formatCursor(point.epoch, point.seq, point.until) === text),
      ).toBe(true);
    }),
    { seed: 2, numRuns: 1000 },
  );
});

test('reads 0 and latest', () => {
  expect(parseStartPoint('0')).toBe('beginning');
  expect(parseStartPoint('latest')).toBe('latest');
});

test('writes 0 for a log in which nothing was ever written', () => {
  expect(formatCursor(null, 0)).toBe('0');
});

test.each([
  ['an empty text', ''],
  ['a bare number', '7'],
  ['an epoch alone', 'k3f9x2ab'],
  ['an epoch without a seq', 'k3f9x2ab.'],
  ['a leading zero', 'k3f9x2ab.07'],
  ['a sign', 'k3f9x2ab.+7'],
  ['a fraction of a third part', 'k3f9x2ab.7.'],
  ['a fourth part', 'k3f9x2ab.7.8.9'],
  ['a seq of 2^53', 'k3f9x2ab.9007199254740992'],
  ['an until of 2^53', 'k3f9x2ab.1.9007199254740992'],
  ['a seq of 17 digits', 'k3f9x2ab.10000000000000000'],
  ['upper case', 'K3F9X2AB.7'],
  ['an epoch too short', 'k3f9x2a.7'],
  ['an epoch too long', 'k3f9x2abc.7'],
  ['a line break', 'k3f9x2ab.7\n'],
  ['a carriage return', 'k3f9x2ab.7\r'],
  ['a NUL', 'k3f9x2ab.7\0'],
  ['a space', ' k3f9x2ab.7'],
  ['digits of another script', 'k3f9x2ab.٧'],
  ['more than 64 bytes', `k3f9x2ab.${'7'.repeat(60)}`],
])('refuses %s', (_what, text) => {
  expect(parseStartPoint(text)).toBeNull();
});

test('reads the largest seq below 2^53', () => {
  expect(parseStartPoint('k3f9x2ab.9007199254740991')).toMatchObject({ seq: Number.MAX_SAFE_INTEGER });
});
