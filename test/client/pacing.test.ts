import { setImmediate as macrotask } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { createPacing } from '../../src/client/conversation/pacing.ts';

afterEach(() => {
  vi.useRealTimers();
});

function createCounted() {
  let calls = 0;
  return { ...createPacing(() => (calls += 1)), calls: () => calls };
}

test('what comes one after the other without a pause is called for once', async () => {
  const { soon, calls } = createCounted();

  for (let n = 0; n < 100; n++) {
    soon();
    // As an iterator hands over what it has received: a few turns for each.
    await null;
    await null;
    await null;
  }
  const before = calls();
  await macrotask();

  expect([before, calls()]).toEqual([0, 1]);
});

test('small changes are called for in a frame at the latest, and sooner together with others', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { soon, later, calls } = createCounted();

  later();
  vi.advanceTimersByTime(32);
  later();
  expect(calls()).toBe(0);
  vi.advanceTimersByTime(1);
  expect(calls()).toBe(1);

  later();
  soon();
  later();
  await macrotask();
  expect(calls()).toBe(2);
  expect(vi.getTimerCount()).toBe(0);
});

test('what is called for now is not called for again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { now, soon, later, calls } = createCounted();

  later();
  soon();
  now();
  await macrotask();

  expect(calls()).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});

test('the end calls for what is left, and for nothing when nothing is', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { later, end, calls } = createCounted();

  end();
  expect(calls()).toBe(0);
  later();
  end();
  end();

  expect(calls()).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});
