import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, isDeeperThan, type Json, truncateUtf8, utf8Bytes } from '../../src/model/json.ts';

const anyText = fc.string({ unit: fc.oneof(fc.constantFrom('a', 'é', '€', '🌊', '\ud800', '\udc00'), fc.string()) });
const encode = (text: string) => new TextEncoder().encode(text);

test('counts the bytes that a text takes in UTF-8, whatever it holds', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(utf8Bytes(text)).toBe(encode(text).length);
    }),
    { seed: 1, numRuns: 500 },
  );
});

test.each([
  ['\x7f', 1],
  ['\x80', 2],
  ['\u07ff', 2],
  ['\u0800', 3],
  ['\uffff', 3],
  ['\u{10000}', 4],
  ['\u{10ffff}', 4],
  ['\ud800', 3],
  ['\ud800a', 4],
  ['\udc00\ud800', 6],
])('counts %j as %i bytes', (text, bytes) => {
  expect(utf8Bytes(text)).toBe(bytes);
});

test('keeps the longest start that fits, and never cuts a code point', () => {
  fc.assert(
    fc.property(anyText, fc.nat(20), (text, maxBytes) => {
      const points = [...text];
      const fits = points.findLastIndex((_, at) => encode(points.slice(0, at + 1).join('')).length <= maxBytes) + 1;

      expect(truncateUtf8(text, maxBytes)).toBe(points.slice(0, fits).join(''));
    }),
    { seed: 2, numRuns: 500 },
  );
});

test('leaves a text whole that fits to the byte', () => {
  expect(truncateUtf8('a🌊', 5)).toBe('a🌊');
  expect(truncateUtf8('a🌊', 4)).toBe('a');
});

test('writes the same text for objects whose keys come in another order', () => {
  expect(canonicalJson({ b: [1, { d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[1,{"c":2,"d":1}]}');
});

test('writes JSON that reads back as the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain: Json = JSON.parse(JSON.stringify(value));

      expect(JSON.parse(canonicalJson(plain))).toEqual(plain);
    }),
    { seed: 3, numRuns: 200 },
  );
});

function nested(depth: number, wrap: (inner: Json) => Json): Json {
  let value: Json = 'core';
  for (let level = 0; level < depth; level++) value = wrap(value);
  return value;
}

test.each([
  ['arrays', (inner: Json): Json => [0, inner]],
  ['objects', (inner: Json): Json => ({ a: 0, inner })],
])('measures how deep %s nest', (_what, wrap) => {
  expect(isDeeperThan(nested(32, wrap), 32)).toBe(false);
  expect(isDeeperThan(nested(33, wrap), 32)).toBe(true);
});

test('takes scalars for flat', () => {
  expect([null, true, 0, 'text'].map((scalar) => isDeeperThan(scalar, 0))).toEqual([false, false, false, false]);
});

test('looks no deeper than the limit', () => {
  expect(
    isDeeperThan(
      nested(200_000, (inner) => [inner]),
      32,
    ),
  ).toBe(true);
});
