import { expect, test } from 'vitest';
import { createHeldOpen } from '../../src/http/held-open.ts';
import { createMetrics } from '../../src/http/metrics.ts';

const { refused } = createMetrics().overload;

test('holds so many open for an owner, of streams and waits together, and gives a place back once it is left', () => {
  const held = createHeldOpen({ max: 10, maxPerOwner: 2, refused });
  held.enter('ann', 'stream');
  const leave = held.enter('ann', 'wait');

  expect(held.enter('ann', 'stream')).toBeNull();
  expect(held.enter('bob', 'stream')).not.toBeNull();
  leave?.();
  expect(held.enter('ann', 'stream')).not.toBeNull();
});

test('holds so many open in all, whoever they are of', () => {
  const held = createHeldOpen({ max: 2, maxPerOwner: null, refused });
  const leave = held.enter('ann', 'stream');
  held.enter('ann', 'stream');

  expect(held.enter('bob', 'stream')).toBeNull();
  leave?.();
  expect(held.enter('bob', 'wait')).not.toBeNull();
});
