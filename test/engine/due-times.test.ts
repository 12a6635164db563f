import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDueTimes } from '../../src/engine/due-times.ts';

test('knows the earliest of the instants that have not passed', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50)), fc.nat(50), (times, now) => {
      const due = createDueTimes();
      for (const at of times) due.add(at);

      const left = times.filter((at) => at > now);
      expect(due.pass(now)).toBe(left.length < times.length);
      expect(due.next()).toBe(left.length === 0 ? null : Math.min(...left));
    }),
  );
});

test('keeps the earliest when there are too many', () => {
  const due = createDueTimes();

  for (let at = 20_000; at > 0; at--) due.add(at);

  expect(due.next()).toBe(1);
  due.pass(9999);
  expect(due.next()).toBe(10_000);
  due.pass(10_000);
  expect(due.next()).toBeNull();
});
