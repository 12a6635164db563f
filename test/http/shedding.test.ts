import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createMetrics } from '../../src/http/metrics.ts';
import { createShedding } from '../../src/http/shedding.ts';

const PROMPT_MS = 5;
const LATE_MS = 400;

/** A shedding with work that ends when the test says so. */
function openShedding() {
  const backlog = { count: 0, waitsMs: 0, oldestMs: () => backlog.waitsMs };
  const { overload } = createMetrics();
  const shedding = createShedding(backlog, overload);
  const endings: (() => void)[] = [];
  const work = shedding.counted(() => new Promise<void>((resolve) => endings.push(resolve)));
  return {
    shedding,
    backlog,
    begin(count: number): Promise<unknown> {
      return Promise.all(Array.from({ length: count }, work));
    },
    async endAll(): Promise<void> {
      for (const end of endings.splice(0)) end();
      await nextTurn();
    },
    isRefusing: shedding.refusesWork,
  };
}

describe('new work', () => {
  test('is refused while five hundred are under way, and taken when they are done', async () => {
    const { shedding, begin, endAll, isRefusing } = openShedding();
    const before = begin(499);
    expect(isRefusing()).toBe(false);
    const last = begin(1);

    await expect(shedding.admitWork()).rejects.toMatchObject({ code: 'overloaded' });
    await endAll();

    await Promise.all([before, last]);
    await shedding.admitWork();
  });

  // Would fail if those who were let in, and whose bodies came at once, were counted only at the door.
  test('that was let in together is refused where it has become too much', async () => {
    const { begin, endAll } = openShedding();
    const taken = begin(756);

    await expect(begin(1)).rejects.toMatchObject({ code: 'overloaded' });

    await endAll();
    await taken;
  });

  test('begins 256 at a time in a turn of the event loop, in order', async () => {
    const { shedding } = openShedding();
    const begun: number[] = [];
    const refused: number[] = [];
    for (let n = 0; n < 600; n++)
      shedding.admitWork().then(
        () => begun.push(n),
        () => refused.push(n),
      );

    await nextTurn();
    const inTwoTurns = begun.length;
    await nextTurn();

    expect(inTwoTurns).toBe(512);
    expect(begun).toEqual(Array.from({ length: 600 }, (_, n) => n));
    expect(refused).toEqual([]);
  });

  test('is let in by the few only, while the event loop is late for a second, until it is prompt again', async () => {
    const { shedding, begin, endAll, isRefusing } = openShedding();
    const some = begin(64);

    shedding.tick(LATE_MS);
    expect(isRefusing()).toBe(false);
    shedding.tick(LATE_MS);
    expect(isRefusing()).toBe(true);
    shedding.tick(150);
    expect(isRefusing()).toBe(true);
    shedding.tick(PROMPT_MS);
    expect(isRefusing()).toBe(false);

    await endAll();
    await some;
  });

  test('is not refused to one who asks alone, however slow everything is', () => {
    const { shedding, backlog, isRefusing } = openShedding();
    shedding.tick(LATE_MS);
    shedding.tick(LATE_MS);
    backlog.waitsMs = 5000;

    expect(isRefusing()).toBe(false);
  });

  test('is let in by the few only, while commits take longer than a second', async () => {
    const { backlog, begin, endAll, isRefusing } = openShedding();
    const some = begin(64);
    expect(isRefusing()).toBe(false);

    backlog.waitsMs = 1100;

    expect(isRefusing()).toBe(true);
    await endAll();
    await some;
  });
});

describe('a server', () => {
  // Would fail if one large burst sent the streams of others away.
  test('is not overloaded by a burst that is refused in part', async () => {
    const { shedding, begin, endAll, isRefusing } = openShedding();
    const burst = begin(500);
    expect(isRefusing()).toBe(true);
    await endAll();
    await burst;

    shedding.tick(PROMPT_MS);

    expect(shedding.isOverloaded).toBe(false);
    shedding.refuseStream();
  });

  test('is overloaded when it refuses again and again, until it has not for a second', async () => {
    const { shedding, begin, endAll, isRefusing } = openShedding();
    const burst = begin(500);
    for (let tick = 0; tick < 2; tick++) {
      isRefusing();
      shedding.tick(PROMPT_MS);
    }

    expect(shedding.isOverloaded).toBe(true);
    expect(() => shedding.refuseStream()).toThrow(expect.objectContaining({ code: 'overloaded' }));
    await endAll();
    await burst;
    shedding.tick(PROMPT_MS);
    expect(shedding.isOverloaded).toBe(true);
    shedding.tick(PROMPT_MS);
    expect(shedding.isOverloaded).toBe(false);
  });
});
