import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newDirectory } from '../support/store-directory.ts';
import { calm } from './calm.ts';
import { type CodeCopy, copyCode } from './failpoint-copy.ts';
import { killStorm } from './kill-storm.ts';
import type { MakeNemesis } from './nemesis.ts';
import { playRound } from './round.ts';
import { seedOf } from './seed.ts';
import { AGENTS } from './server-lives.ts';

const ROUND_MS = 180_000;

/** A short run of `npm run chaos`: many clients, agents by script, and every rule that holds of what they see. */
describe('A server', () => {
  let code: CodeCopy;
  beforeAll(() => {
    code = copyCode([AGENTS]);
  });
  afterAll(() => code.remove());

  async function violationsOf(nemesis: MakeNemesis, round: number): Promise<string[]> {
    const options = { seed: seedOf('vitest', round), nemesis, code, dir: newDirectory(), spawns: true, retries: true };
    const { violations } = await playRound(options);
    return violations.map(({ rule, text }) => `${rule}: ${text}`);
  }

  test('that nobody disturbs keeps every rule', { timeout: ROUND_MS }, async () => {
    expect(await violationsOf(calm, 1)).toEqual([]);
  });

  test.each([2, 3])(
    'that is killed again and again keeps every rule (round %i)',
    { timeout: ROUND_MS },
    async (round) => {
      expect(await violationsOf(killStorm, round)).toEqual([]);
    },
  );
});
