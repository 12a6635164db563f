import { expect, test } from 'vitest';
import { Fifo } from '../../src/worker/fifo.ts';

test('gives back in order what was put in, and then nothing', () => {
  const fifo = new Fifo<number>();
  const taken: (number | undefined)[] = [];
  for (let i = 0; i < 10_000; i++) {
    fifo.push(i);
    const { first } = fifo;
    if (i % 3 > 0) taken.push(fifo.shift() === first ? first : Number.NaN);
  }
  while (fifo.length > 0) taken.push(fifo.shift());

  expect(taken).toEqual(Array.from({ length: 10_000 }, (_, i) => i));
  expect([fifo.shift(), fifo.first, fifo.length]).toEqual([undefined, undefined, 0]);
});
