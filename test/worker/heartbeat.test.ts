import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Heartbeat } from '../../src/worker/heartbeat.ts';

let pings: number[];
let isUnresponsive: boolean;
let heartbeat: Heartbeat;

beforeEach(() => {
  vi.useFakeTimers();
  pings = [];
  isUnresponsive = false;
  heartbeat = new Heartbeat({
    unresponsiveAfterMs: 10_000,
    ping: (id) => pings.push(id),
    onUnresponsive: () => {
      isUnresponsive = true;
    },
  });
  heartbeat.start();
});
afterEach(() => {
  heartbeat.stop();
  vi.useRealTimers();
});

test('a thread that answers is asked once a second and is well', () => {
  for (let beat = 1; beat <= 30; beat++) {
    expect(pings).toHaveLength(beat);
    heartbeat.answer(beat);
    vi.advanceTimersByTime(1000);
  }

  expect(heartbeat.isHealthy).toBe(true);
  expect(heartbeat.answers).toBe(30);
});

test('a thread that does not answer is asked once, soon unwell, and at last unresponsive', () => {
  vi.advanceTimersByTime(2000);
  expect(heartbeat.isHealthy).toBe(true);
  vi.advanceTimersByTime(1000);
  expect(heartbeat.isHealthy).toBe(false);
  vi.advanceTimersByTime(7000);
  expect(isUnresponsive).toBe(false);

  vi.advanceTimersByTime(1000);

  expect(isUnresponsive).toBe(true);
  expect(pings).toEqual([1]);
});

test('a thread that answers late is well again', () => {
  vi.advanceTimersByTime(9000);

  heartbeat.answer(1);
  vi.advanceTimersByTime(9000);

  expect(isUnresponsive).toBe(false);
  expect(pings).toEqual([1, 2]);
});

test('a thread is silent that was asked and has not answered for five looks', () => {
  for (let look = 1; look <= 4; look++) heartbeat.look();
  expect([heartbeat.isAsked, heartbeat.isSilent]).toEqual([true, false]);
  heartbeat.look();
  expect(heartbeat.isSilent).toBe(true);

  heartbeat.answer(1);
  for (let look = 1; look <= 5; look++) heartbeat.look();

  expect([heartbeat.isAsked, heartbeat.isSilent]).toEqual([false, false]);
});

test('a thread may be asked out of turn, but not twice at a time', () => {
  heartbeat.answer(1);

  heartbeat.ask();
  heartbeat.ask();

  expect(pings).toEqual([1, 2]);
});
