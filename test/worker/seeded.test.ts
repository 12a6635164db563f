import { expect, test } from 'vitest';
import { z } from 'zod';
import { idempotencyKey, seededRandom, seededUuid } from '../../src/worker/seeded.ts';

test('a seeded value is the same for the same seed, name and number, and another for any other', () => {
  for (const make of [seededRandom, seededUuid]) {
    const values = [make('s', 'a', 1), make('t', 'a', 1), make('s', 'b', 1), make('s', 'a', 2), make('s', 'a1', 1)];

    expect(make('s', 'a', 1)).toBe(values[0]);
    expect(new Set(values).size).toBe(values.length);
  }
});

test('seeded numbers lie evenly between 0 and 1', () => {
  const numbers = Array.from({ length: 10_000 }, (_, n) => seededRandom('s', 'a', n));

  expect(numbers.every((x) => x >= 0 && x < 1)).toBe(true);
  const mean = numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.01);
});

test('a seeded uuid is one of version 4', () => {
  for (let n = 0; n < 100; n++) expect(() => z.uuidv4().parse(seededUuid('s', 'a', n))).not.toThrow();
});

test('an idempotency key tells tasks and steps apart', () => {
  const keys = [idempotencyKey('s', 'charge'), idempotencyKey('s', 'charge#2'), idempotencyKey('t', 'charge')];

  expect(new Set(keys).size).toBe(3);
  expect(keys.every((key) => /^[0-9a-f]{32}$/.test(key))).toBe(true);
});
