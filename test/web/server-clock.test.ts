import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createServerClock, narrowed } from '../../src/web/server-clock.ts';

const START = Date.parse('2026-12-01T12:00:00.000Z');
const HOUR = 3_600_000;

/** A device whose clock is wrong, and the server's clock beside it. */
function createDevice(aheadMs: number) {
  let passed = 0;
  const clock = createServerClock(
    () => passed,
    () => START + passed + aheadMs,
  );
  return {
    clock,
    pass(ms: number) {
      passed += ms;
    },
    passed: () => passed,
    serverNow: () => START + passed,
    /** A response that took so long both ways. */
    hear(thereMs: number, backMs: number) {
      const askedAt = passed;
      passed += thereMs;
      const date = new Date(START + passed).toUTCString();
      passed += backMs;
      clock.heardDate(date, askedAt, passed);
    },
  };
}

describe('the clock of the server', () => {
  test('is that of the device until the server has said anything', () => {
    expect(createDevice(2 * HOUR).clock.now()).toBe(START + 2 * HOUR);
  });

  test('is known to a second after one response, however wrong the device is', () => {
    const device = createDevice(-7 * HOUR);

    device.hear(40, 40);

    expect(Math.abs(device.clock.now() - device.serverNow())).toBeLessThanOrEqual(1000);
  });

  test('is never further off than its bounds allow, and comes nearer', () => {
    const trip = fc.record({ there: fc.nat(400), back: fc.nat(400), rest: fc.nat(5000) });
    fc.assert(
      fc.property(fc.array(trip, { minLength: 1, maxLength: 20 }), (trips) => {
        const device = createDevice(5 * HOUR);
        for (const { there, back, rest } of trips) {
          device.pass(rest);
          device.hear(there, back);

          expect(Math.abs(device.clock.now() - device.serverNow())).toBeLessThanOrEqual(900);
        }
      }),
    );
  });

  test('is not before what has happened', () => {
    const device = createDevice(0);
    device.hear(0, 3000);

    device.clock.heardOf(new Date(device.serverNow()).toISOString());

    expect(device.clock.now()).toBeGreaterThanOrEqual(device.serverNow());
  });

  test('is learned anew when the device has slept without its monotonic clock', () => {
    let passed = 0;
    const clock = createServerClock(
      () => passed,
      () => START,
    );
    clock.heardDate(new Date(START).toUTCString(), 0, 10);

    passed = 1000; // of an hour
    clock.heardDate(new Date(START + HOUR).toUTCString(), 1000, 1010);

    expect(Math.abs(clock.now() - (START + HOUR))).toBeLessThanOrEqual(1000);
  });

  test('listens to nobody who sends no date', () => {
    const device = createDevice(HOUR);

    device.clock.heardDate('soon', 0, 10);

    expect(device.clock.now()).toBe(START + HOUR);
  });
});

describe('bounds', () => {
  test('meet where both hold', () => {
    expect(narrowed({ least: 0, most: 10 }, { least: 5, most: 20 })).toEqual({ least: 5, most: 10 });
  });

  test('that do not meet leave the newer', () => {
    expect(narrowed({ least: 0, most: 10 }, { least: 50, most: 60 })).toEqual({ least: 50, most: 60 });
  });
});
