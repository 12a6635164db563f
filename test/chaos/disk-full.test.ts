import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mayMount } from '../support/small-disk.ts';
import { newDirectory } from '../support/store-directory.ts';
import { diskFull } from './disk-full-nemesis.ts';
import { type CodeCopy, copyCode } from './failpoint-copy.ts';
import { type FillCycle, fillCycles } from './fill-cycles.ts';
import { playRound } from './round.ts';
import { seedOf } from './seed.ts';
import { AGENTS } from './server-lives.ts';

const mustRun = process.env.CI === 'true';
const ROUND_MS = 240_000;

/** docs/protocol.md §9 `storage_full`. */
describe('A disk that is full now and then', () => {
  let code: CodeCopy;
  beforeAll(() => {
    code = copyCode([AGENTS]);
  });
  afterAll(() => code.remove());

  test('refuses for a while, and of what it took nothing is lost, and nothing happens twice', {
    timeout: ROUND_MS,
  }, async ({ skip }) => {
    if (!mustRun && !mayMount()) return skip('This user may not mount a tmpfs; root may.');
    const options = { seed: seedOf('disk-full', 1), code, dir: newDirectory(), spawns: true, retries: true };

    const { story, violations } = await playRound({ ...options, nemesis: diskFull });

    expect(violations.map(({ rule, text }) => `${rule}: ${text}`)).toEqual([]);
    expect(story.requests.flatMap(({ tries }) => tries).filter(({ status }) => status === 503)).not.toEqual([]);
  });

  // A short run of `npm run fill`.
  test('of 8 MB, filled to the brim and freed twice, goes on by itself each time, without a restart', {
    timeout: ROUND_MS,
  }, async ({ skip }) => {
    if (!mustRun && !mayMount()) return skip('This user may not mount a tmpfs; root may.');
    const cycles: FillCycle[] = [];

    const { story, violations } = await playRound({
      ...{ seed: seedOf('fill', 1), nemesis: fillCycles(2, (cycle) => cycles.push(cycle)), code, dir: newDirectory() },
      ...{ spawns: true, retries: true, load: { tasks: 24, pauseMs: 600, faultsMs: ROUND_MS / 2 } },
    });

    expect(violations.map(({ rule, text }) => `${rule}: ${text}`)).toEqual([]);
    expect(cycles).toHaveLength(2);
    expect(story.lives.filter(({ endedBy }) => endedBy === 'itself')).toEqual([]);
  });
});
