import { describe, expect, test } from 'vitest';
import { findPostgresPrograms } from '../../support/postgres-binaries.ts';
import { newDirectory } from '../../support/store-directory.ts';
import { seedOf } from '../seed.ts';
import { NODE_NEMESES, type NodeNemesis } from './node-nemeses.ts';
import { playNodes } from './nodes-round.ts';

const TASKS = 60;
const ROUND_MS = 240_000;

/** A short run of `npm run chaos:nodes`. */
describe.skipIf(findPostgresPrograms() === null)('Three nodes on one database', () => {
  test('keep every rule, whatever befalls them, and nobody writes under an old fence', {
    timeout: ROUND_MS,
  }, async () => {
    const { violations, testimony } = await playNodes({
      ...{ seed: seedOf('vitest', 'nodes'), nemesis: NODE_NEMESES.mixed as NodeNemesis, dir: newDirectory() },
      load: { tasks: TASKS, pauseMs: 200, faultsMs: ROUND_MS / 12 },
    });

    expect(violations.map(({ rule, text }) => `${rule}: ${text}`)).toEqual([]);
    expect(testimony.moved).toBeGreaterThan(0);
  });
});
