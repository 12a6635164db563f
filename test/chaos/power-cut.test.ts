import { beforeAll, describe, expect, test } from 'vitest';
import { type Change, copyCode, SYNC_AT_CHECKPOINTS_ONLY } from './failpoint-copy.ts';
import { cutPower, POWER_CUT_AGENTS } from './power-cut.ts';
import { buildShim, type Shim } from './power-cut-shim.ts';

const mustRun = process.env.CI === 'true';
/** On a machine that has other things to do; a quiet one takes a tenth of it. */
const TEST_MS = 180_000;
const NO_SHIM = 'A power cut is acted out on Linux, with gcc.';
const seed = Number(process.env.SEED ?? Date.now() % 100_000);

/** docs/decisions/002-on-disk-before-seen.md */
describe(`A power cut under load (SEED=${seed})`, () => {
  let shim: Shim | null = null;
  beforeAll(() => {
    shim = buildShim();
  });

  function cut(changes: readonly Change[], rounds: number, cuts: number) {
    if (shim === null) throw new Error(NO_SHIM);
    const copy = copyCode([POWER_CUT_AGENTS], changes);
    return cutPower({ copy, shim, rounds, cuts, seed }).finally(copy.remove);
  }

  test('takes nothing that was told: every cursor goes on with exactly the log, and no seq is given twice', {
    timeout: TEST_MS,
  }, async ({ skip }) => {
    if (shim === null && !mustRun) return skip(NO_SHIM);

    const figures = await cut([], 2, 10);

    expect(figures).toMatchObject({ lost: 0, reused: 0, resets: 0, faults: [] });
    expect(figures.told).toBeGreaterThan(100);
  });

  test('takes what was told where commits are not synced, which is caught, and whose cursors say so', {
    timeout: TEST_MS,
  }, async ({ skip }) => {
    if (shim === null && !mustRun) return skip(NO_SHIM);

    const figures = await cut(SYNC_AT_CHECKPOINTS_ONLY, 6, 2);

    expect(figures.lost).toBeGreaterThan(0);
    expect(figures.resets).toBeGreaterThan(0);
    expect(figures.faults).toEqual([]);
  });
});
