import { expect, test } from 'vitest';
import { fuzz } from './fuzz.ts';

/** `npm run fuzz -- 2000 --seed 20261201` sends the same again; many more is a script of its own. */
const SEED = 20_261_201;
const REQUESTS = 2000;

test('two thousand odd requests leave a server that answers, leaks nothing and has a whole log', async () => {
  const { requests, faults } = await fuzz({ requests: REQUESTS, seed: SEED });

  expect(faults).toEqual([]);
  expect(requests).toBeGreaterThanOrEqual(REQUESTS);
});
