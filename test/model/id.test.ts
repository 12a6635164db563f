import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatId, isId } from '../../src/model/id.ts';

const uuid = fc.uint8Array({ minLength: 16, maxLength: 16 });

test('writes 26 characters of Crockford base32 behind the prefix', () => {
  expect(formatId('task', new Uint8Array(16))).toBe('task_00000000000000000000000000');
  expect(formatId('qst', new Uint8Array(16).fill(0xff))).toBe('qst_7zzzzzzzzzzzzzzzzzzzzzzzzz');
  expect(
    formatId(
      'conv',
      Uint8Array.from({ length: 16 }, (_, at) => at),
    ),
  ).toBe('conv_00041061050r3gg28a1c60t3gf');
});

test('recognises what it has written, by its own prefix only', () => {
  fc.assert(
    fc.property(uuid, (bytes) => {
      const id = formatId('msg', bytes);

      expect([isId('msg', id), isId('task', id)]).toEqual([true, false]);
    }),
    { seed: 1, numRuns: 200 },
  );
});

test('sorts ids as their bytes sort', () => {
  fc.assert(
    fc.property(uuid, uuid, (a, b) => {
      const byBytes = Math.sign(Buffer.compare(a, b));
      const [left, right] = [formatId('task', a), formatId('task', b)];

      expect(left < right ? -1 : Number(left > right)).toBe(byBytes);
    }),
    { seed: 2, numRuns: 200 },
  );
});

const GOOD = 'task_00000000000000000000000000';

test.each([
  ['another prefix', 'user_00000000000000000000000000'],
  ['no prefix', '00000000000000000000000000'],
  ['a character too few', GOOD.slice(0, -1)],
  ['a character too many', `${GOOD}0`],
  ['upper case', `${GOOD.slice(0, -1)}A`],
  ['the letter i', `${GOOD.slice(0, -1)}i`],
  ['the letter l', `${GOOD.slice(0, -1)}l`],
  ['the letter o', `${GOOD.slice(0, -1)}o`],
  ['the letter u', `${GOOD.slice(0, -1)}u`],
  ['a line break at its end', `${GOOD}\n`],
  ['nothing at all', ''],
])('takes a text with %s for no id', (_what, text) => {
  expect(isId('task', text)).toBe(false);
});
