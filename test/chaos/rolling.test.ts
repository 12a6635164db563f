import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newDirectory } from '../support/store-directory.ts';
import { type CodeCopy, copyCode } from './failpoint-copy.ts';
import { HASTY, rolling } from './rolling.ts';
import { rollingFaults } from './rolling-faults.ts';
import { playRound } from './round.ts';
import { seedOf } from './seed.ts';
import { AGENTS } from './server-lives.ts';

const RESTARTS = 2;
const ROUND_MS = 180_000;

/** A short run of `npm run rolling`. docs/operations.md, "Stopping and rolling restarts". */
describe('A server that is stopped and started anew under load', () => {
  let code: CodeCopy;
  beforeAll(() => {
    code = copyCode([AGENTS], HASTY);
  });
  afterAll(() => code.remove());

  test('keeps every rule, hands over every task that runs, and ends with 0 in time', {
    timeout: ROUND_MS,
  }, async () => {
    const { story, violations } = await playRound({
      ...{ seed: seedOf('rolling', 1), nemesis: rolling(RESTARTS), code, dir: newDirectory() },
      ...{ spawns: true, retries: true, load: { tasks: 20, pauseMs: 2000, faultsMs: ROUND_MS / 2 } },
    });

    expect(violations.map(({ rule, text }) => `${rule}: ${text}`)).toEqual([]);
    expect(rollingFaults(story, RESTARTS)).toEqual([]);
  });
});
