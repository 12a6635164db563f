import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ALONE_AFTER_MS } from '../../src/engine/orphans.ts';
import { groupSize, intervalMs, nextGroup } from '../../src/engine/quarantine.ts';
import type { Suspect } from '../../src/store/store.ts';
import { seededRandom } from '../../src/worker/seeded.ts';
import { Boots } from './boots.ts';

function suspect(taskId: string, crashes = 2, aloneCrashes = 0): Suspect {
  return { owner: 'ann', taskId, agent: 'idle', crashes, aloneCrashes };
}

/** A chance that always draws the same lots, in turn. */
function lots(...values: number[]): () => number {
  let drawn = 0;
  return () => values[drawn++ % values.length] ?? 0;
}

describe('the next group', () => {
  test('is of those that have seen the most deaths', () => {
    const group = nextGroup([suspect('a'), suspect('b', 4), suspect('c', 3)], 2, () => 0.5);

    expect(group.map(({ taskId }) => taskId)).toEqual(['b', 'c']);
  });

  test('is drawn by lot among equals', () => {
    const group = nextGroup([suspect('a'), suspect('b'), suspect('c')], 2, lots(0.9, 0.1, 0.5));

    expect(group.map(({ taskId }) => taskId)).toEqual(['b', 'c']);
  });

  test('has none with which the process died while they were alone, as long as there are others', () => {
    const group = nextGroup([suspect('a', 9, 1), suspect('b')], 8, () => 0.5);

    expect(group.map(({ taskId }) => taskId)).toEqual(['b']);
  });

  test('is one of those, alone, when no others are left', () => {
    const group = nextGroup([suspect('a', 3, 1), suspect('b', 4, 2), suspect('c', 3, 1)], 8, () => 0.5);

    expect(group.map(({ taskId }) => taskId)).toEqual(['b']);
  });
});

describe('groups', () => {
  test('are each twice as large as the one before, after five of one where a death would count', () => {
    expect([0, 1, 2, 3, 20].map((before) => groupSize(before, 2))).toEqual([1, 2, 4, 8, 1000]);
    expect([0, 1, 4, 5, 6, 7].map((before) => groupSize(before, 8))).toEqual([1, 1, 1, 2, 4, 8]);
  });

  test('come two seconds apart, and after four deaths in a row twice as far with each, up to 24 s', () => {
    const apart = [2, 4, 5, 6, 7, 8, 9, 50].map((deaths) => intervalMs(deaths, 0));

    expect(apart).toEqual([2000, 2000, 4000, 8000, 16_000, 24_000, 24_000, 24_000]);
  });

  test('of which one has a count come further apart than makes it count, and twice as far with each', () => {
    expect([1, 2].map((counted) => intervalMs(2, counted))).toEqual([24_000, 48_000]);
    expect(intervalMs(2, 1)).toBeGreaterThan(2 * ALONE_AFTER_MS);
  });
});

describe('a process that dies again and again', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] }));
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  test('convicts none of 200 tasks that get nothing done, whenever it is killed', async () => {
    const boots = new Boots();
    const innocent = await boots.create(200);

    for (let n = 1; n <= 60; n++) await boots.run(200 + Math.floor(seededRandom('kills', 'ms', n) * 40_000));

    expect(await boots.failed(innocent)).toEqual([]);
  });

  test.each([300, 1500, 10_000])('convicts the one that kills it after %i ms, and nobody else', async (afterMs) => {
    const boots = new Boots();
    const innocent = await boots.create(200);
    const [guilty = ''] = await boots.create(1);
    boots.poison = { taskId: guilty, afterMs };

    let deaths = 0;
    while ((await boots.failed([guilty])).length === 0 && deaths < 60) deaths += Number(await boots.run(30 * 60_000));
    await boots.run(60_000);

    expect(await boots.store.task('ann', guilty)).toMatchObject({ status: 'failed', error: { code: 'crash_loop' } });
    expect(await boots.failed(innocent)).toEqual([]);
  });

  test.each([100, 500, 1000, 1900, 2000, 2100, 3500, 5000, 7900, 8100, 12_000, 15_900, 16_100, 20_000])(
    'convicts the one of a few that kills it after %i ms, and nobody else, whatever the lots',
    async (afterMs) => {
      for (const [lots, innocents] of [1, 1, 1, 1, 1, 2, 2, 4, 4, 9].entries()) {
        let drawn = 0;
        vi.spyOn(Math, 'random').mockImplementation(() => seededRandom(`lots ${lots}`, String(afterMs), ++drawn));
        const boots = new Boots();
        const older = await boots.create(1);
        const [guilty = ''] = await boots.create(1);
        const younger = await boots.create(innocents - 1);
        boots.poison = { taskId: guilty, afterMs };

        let deaths = 0;
        while ((await boots.failed([guilty])).length === 0 && deaths < 20)
          deaths += Number(await boots.run(30 * 60_000));

        expect(await boots.store.task('ann', guilty)).toMatchObject({
          status: 'failed',
          error: { code: 'crash_loop' },
        });
        expect(await boots.failed([...older, ...younger])).toEqual([]);
      }
    },
  );

  test('counts nothing when it was stopped', async () => {
    const boots = new Boots();
    const [taskId = ''] = await boots.create(1);

    for (let n = 0; n < 10; n++) await boots.run(500, 'stop');

    expect(await boots.store.task('ann', taskId)).toMatchObject({
      status: 'queued',
      crashes: 0,
      aloneCrashes: 0,
      attempt: 1,
    });
  });
});
