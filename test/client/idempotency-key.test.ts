import { afterEach, expect, test, vi } from 'vitest';
import { newIdempotencyKey } from '../../src/client/requests/idempotency-key.ts';

const getRandomValues = crypto.getRandomValues.bind(crypto);

afterEach(() => {
  vi.unstubAllGlobals();
});

test.each([
  ['as everywhere', () => {}],
  ['without crypto, as in React Native', () => void vi.stubGlobal('crypto', undefined)],
  ['without randomUUID, as where the origin is not secure', () => void vi.stubGlobal('crypto', { getRandomValues })],
])('keys differ %s', (_, arrange) => {
  arrange();

  const keys = Array.from({ length: 1000 }, newIdempotencyKey);

  expect(new Set(keys).size).toBe(1000);
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/);
});
