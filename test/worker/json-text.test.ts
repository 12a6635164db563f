import { describe, expect, test } from 'vitest';
import { jsonText } from '../../src/worker/json-text.ts';

class Money {
  readonly amount: number;
  constructor(amount: number) {
    this.amount = amount;
  }
}

class Tagged {
  toJSON() {
    return 'tagged';
  }
}

/** An array whose form is another's affair. */
class List extends Array<unknown> {
  form: unknown;
  toJSON() {
    return this.form;
  }
}

function listOf(form: unknown): List {
  const list = new List();
  Object.defineProperty(list, 'form', { value: form, enumerable: false });
  return list;
}

class Failure extends Error {
  toJSON() {
    return { failed: this.message };
  }
}

describe('the text of a value', () => {
  test.each([
    ['nothing', undefined, 'null'],
    ['a Date', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ['an object of a class', { price: new Money(5) }, '{"price":{"amount":5}}'],
    ['an object of a class with a toJSON', [new Tagged()], '["tagged"]'],
    ['an Error with a toJSON', [new Failure('boom')], '[{"failed":"boom"}]'],
    ['a Buffer', Buffer.from([1]), '{"type":"Buffer","data":[1]}'],
    ['an array with a toJSON', listOf('mine'), '"mine"'],
  ])('is that of JSON for %s', (_, value, text) => {
    expect(jsonText(value)).toBe(text);
  });

  test.each([
    ['an Error', { a: new Error('boom') }, '"a" is an Error, which is not JSON.'],
    ['a TypeError', new TypeError('boom'), 'an Error is not JSON.'],
    ['a DOMException', [new DOMException('boom')], '"0" is a DOMException, which is not JSON.'],
    ['a RegExp', { a: /x/ }, '"a" is a RegExp, which is not JSON.'],
    ['a Promise', { a: Promise.resolve(1) }, '"a" is a Promise, which is not JSON.'],
    ['a Set', { a: new Set([1]) }, '"a" is a Set, which is not JSON.'],
    ['a WeakMap', new WeakMap(), 'a WeakMap is not JSON.'],
    ['a typed array', { a: new Float64Array(1) }, '"a" is a Float64Array, which is not JSON.'],
    ['an ArrayBuffer', { a: new ArrayBuffer(1) }, '"a" is an ArrayBuffer, which is not JSON.'],
    ['an iterator', { a: new Map().entries() }, '"a" is a Map Iterator, which is not JSON.'],
  ])('is refused for %s', (_, value, message) => {
    expect(() => jsonText(value)).toThrow(new TypeError(message));
  });

  test('is refused for what Promise.allSettled gives of a rejection', async () => {
    const settled = await Promise.allSettled([Promise.reject(new Error('boom'))]);

    expect(() => jsonText(settled)).toThrow('"reason" is an Error, which is not JSON.');
  });

  test('is refused for an array whose toJSON nests too deep', () => {
    const deep = (levels: number): unknown => (levels === 0 ? 0 : [deep(levels - 1)]);

    expect(() => jsonText(listOf(deep(33)))).toThrow('it may nest 32 deep.');
  });

  const huge = 'x'.repeat(2 ** 28);
  test.each([
    ['a text', huge],
    ['a text in an object of a class', Object.assign(new Money(1), { huge })],
    ['very many numbers', new Array(5_000_000).fill(0)],
    ['the same long text again and again', Array.from({ length: 100 }, () => 'x'.repeat(100_000))],
    ['long keys', Object.fromEntries([[huge, 1]])],
  ])('is not even made of %s that is far too long', (_, value) => {
    const before = process.memoryUsage().rss;

    expect(() => jsonText(value)).toThrow('it may hold 4194304 characters of JSON.');
    expect(process.memoryUsage().rss - before).toBeLessThan(2 ** 27);
  });
});
