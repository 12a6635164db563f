import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonFault, parseStrictJson } from '../../src/http/strict-json.ts';

function parse(text: string) {
  return parseStrictJson(new TextEncoder().encode(text));
}

test.each([
  '{"a":1,"a":1}',
  '{"a":1,"\\u0061":2}',
  '[{"b":{"x":null,"x" : []}}]',
  '{"__proto__":1,"__proto__":2}',
  '{"":1,"":2}',
  '{"1":1,"1":2}',
])('refuses %s, which has a key twice', (text) => {
  expect(() => parse(text)).toThrow(new JsonFault('A key stands twice in an object.'));
});

test.each([
  '{"a":{"a":{"a":1}}}',
  '[{"a":1},{"a":1}]',
  '{"a":"\\"a\\":1","b":"a\\\\"}',
  '{"k":"{\\"k\\":1}"}',
  '":"',
  '{"a" \t\r\n: 1}',
])('takes %s, which has none twice', (text) => {
  expect(parse(text)).toEqual(JSON.parse(text));
});

test('takes whatever JSON.stringify writes', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ depthSize: 'medium', noUnicodeString: false }),
      fc.constantFrom(0, 2),
      (value, indent) => {
        const text = JSON.stringify(value, null, indent);

        expect(JSON.stringify(parse(text))).toBe(JSON.stringify(JSON.parse(text)));
      },
    ),
  );
});

test('keeps __proto__ as a key, and lets it change no object', () => {
  const value = parse('{"__proto__":{"polluted":true},"constructor":1}');

  expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor']);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test.each([
  ['a byte order mark', '\ufeff{}'],
  ['nothing', ''],
  ['two values', '{}{}'],
  ['a number that no double holds', '[1e999]'],
  ['nesting of a hundred thousand', '['.repeat(100_000) + ']'.repeat(100_000)],
])('refuses %s', (_what, text) => {
  expect(() => parse(text)).toThrow(JsonFault);
});

test.each([
  ['half a character', [0x22, 0xc3, 0x22]],
  ['an overlong form', [0x22, 0xc0, 0xaf, 0x22]],
  ['UTF-16', [0x7b, 0x00, 0x7d, 0x00]],
])('refuses %s, which is no UTF-8', (_what, bytes) => {
  expect(() => parseStrictJson(Uint8Array.from(bytes))).toThrow(JsonFault);
});
