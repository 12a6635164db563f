import { expect, test } from 'vitest';
import { JournalRoom } from '../../src/worker/journal-room.ts';

const MEBIBYTE = 'x'.repeat(1024 * 1024);

test('has room for 64 MiB, what was there before included', () => {
  const room = new JournalRoom([...Array.from({ length: 60 }, () => ({ value: MEBIBYTE })), { value: null }]);
  for (let n = 0; n < 4; n++) room.take(MEBIBYTE);

  expect(() => room.take('1')).toThrow(RangeError);
  expect(() => room.take('')).not.toThrow();
});
