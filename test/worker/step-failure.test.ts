import { describe, expect, test } from 'vitest';
import { stepError, toStepFailure } from '../../src/worker/step-failure.ts';

function hostile(): never {
  throw new Error('hostile');
}

/** As it comes out of the journal. */
function journaled(thrown: unknown): Error {
  return stepError(JSON.parse(JSON.stringify(toStepFailure(thrown))));
}

describe('the failure of a step', () => {
  test('keeps the name, the message, the fields that are scalars, and the causes', () => {
    class Refused extends Error {
      override readonly name = 'Refused';
      readonly status = 409;
      readonly retry = false;
      readonly id = null;
      readonly headers = { a: 1 };
    }
    const error = journaled(
      new Refused('no seats', { cause: Object.assign(new TypeError('no plane'), { code: 'E' }) }),
    );

    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'Refused', message: 'no seats', status: 409, retry: false, id: null });
    expect(Object.keys(error).toSorted()).toEqual(['id', 'retry', 'status']);
    expect(error.cause).toMatchObject({ name: 'TypeError', message: 'no plane', code: 'E' });
    expect(String(error)).toBe('Refused: no seats');
    expect(error.stack).toBe('Refused: no seats');
  });

  test('is the same when it is journaled again', () => {
    const once = toStepFailure(Object.assign(new Error('no', { cause: 'because' }), { a: 1 }));

    expect(toStepFailure(stepError(once))).toEqual(once);
  });

  test.each<[string, unknown, string, string]>([
    ['a string', 'no seats', 'Error', 'no seats'],
    ['nothing', undefined, 'Error', 'undefined'],
    ['an object', { seats: 0 }, 'Error', '{ seats: 0 }'],
    ['an error without a message', new RangeError(), 'RangeError', ''],
    [
      'what throws when it is read',
      new Proxy({}, { get: hostile, ownKeys: hostile, has: hostile }),
      'Error',
      'Something was thrown that cannot be described.',
    ],
  ])('of %s is an error all the same', (_, thrown, name, message) => {
    expect(journaled(thrown)).toMatchObject({ name, message });
  });

  test('keeps no field that would be something else', () => {
    const thrown = Object.assign(new Error('no'), { nan: Number.NaN, big: 1n, fn() {}, list: [1] });
    Object.defineProperty(thrown, '__proto__', { value: 'x', enumerable: true });

    expect(Object.keys(journaled(thrown))).toEqual([]);
    expect(journaled(thrown)).toBeInstanceOf(Error);
  });

  test('has bounds, whatever was thrown', () => {
    const deep = new Error('x'.repeat(1_000_000), { cause: new Error('cause') });
    deep.cause = deep;
    for (let i = 0; i < 1000; i++) Object.assign(deep, { [`field${i}`]: 'y'.repeat(100_000) });

    expect(JSON.stringify(toStepFailure(deep)).length).toBeLessThan(2_000_000);
  });
});
