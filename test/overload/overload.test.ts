import { expect, test } from 'vitest';
import { overload } from './overload.ts';

/** A short run of `npm run overload`, on whatever else the machine does: what must hold however fast it is. */
test('Three times what a server can do costs nothing that it has acknowledged, and nobody else', {
  timeout: 180_000,
}, async () => {
  const figures = await overload({ seconds: 3, measureSeconds: 1, recoverySeconds: 3, maxLookups: 200 });

  const { bystander } = figures;
  expect(figures.lost).toEqual([]);
  expect(Object.keys(figures.refused).filter((status) => status !== '503')).toEqual([]);
  expect(figures.withoutRetryAfter).toBe(0);
  expect(figures.accepted).toBeGreaterThan(0.3 * figures.capacity);
  expect(bystander.refused).toEqual([]);
  expect(bystander.told).toBe(bystander.answered);
  expect(bystander.unfinished).toBe(0);
  expect(figures.recovered.share).toBe(1);
});
