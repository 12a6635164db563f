import { expect, test } from 'vitest';
import { readers } from './readers.ts';

/** A short run of `npm run readers`. */
test('Readers that stall, crawl and come and go get exactly the log, and delay nobody', {
  timeout: 120_000,
}, async () => {
  const counts = { normal: 20, stalled: 10, slow: 10, flapping: 10 };

  const figures = await readers({ seconds: 6, counts, everyMs: 20, padBytes: 32 * 1024 });

  expect(figures.wrong).toEqual([]);
  expect(figures.delays.count).toBeGreaterThan(1000);
  // The machine has other work, which may hold up one event in a hundred for longer.
  expect(figures.delays.p50Ms).toBeLessThan(250);
  expect(figures.connections.flapping).toBeGreaterThan(10);
  expect(figures.streamsOpen).toBe(0);
});
