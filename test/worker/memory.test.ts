import { describe, expect, test } from 'vitest';
import { MemoryWatch } from '../../src/worker/memory-watch.ts';
import { createMemoryGauge } from '../../src/worker/thread-memory.ts';

const MIB = 1024 * 1024;

describe('the watch over the threads’ memory', () => {
  test('tells by how much the process has grown since each has answered', () => {
    const watch = new MemoryWatch();
    const busy = { bytes: 100, answers: 1 };
    const idle = { bytes: 100, answers: 1 };
    watch.look(0, 1000, [busy, idle]);
    idle.answers = 2;
    watch.look(100, 1500, [busy, idle]);

    const grown = watch.look(200, 1700, [busy, idle]);

    expect(grown.get(busy)).toBe(700);
    expect(grown.get(idle)).toBe(200);
  });

  test('does not count what another thread says it has taken', () => {
    const watch = new MemoryWatch();
    const busy = { bytes: 100, answers: 1 };
    const growing = { bytes: 100, answers: 1 };
    watch.look(0, 1000, [busy, growing]);
    growing.answers = 2;
    growing.bytes = 600;

    expect(watch.look(100, 1500, [busy, growing]).get(busy)).toBe(0);
  });

  test('sees what grows while the memory of a thread that has ended is given back', () => {
    const watch = new MemoryWatch();
    const busy = { bytes: 100, answers: 1 };
    watch.look(0, 1000, [busy, { bytes: 500, answers: 1 }]);
    watch.threadEnded(100);

    expect(watch.look(200, 1000, [busy]).get(busy)).toBe(0);
    expect(watch.look(300, 1100, [busy]).get(busy)).toBe(100);
    expect(watch.look(2000, 500, [busy]).get(busy)).toBe(0);
    expect(watch.look(2100, 600, [busy]).get(busy)).toBe(100);
    expect(watch.look(3200, 700, [busy]).get(busy)).toBe(200);
  });
});

describe('the gauge of a thread', () => {
  const boundary = () => process.memoryUsage().heapUsed + process.memoryUsage().external + 64 * MIB;
  const buffers = () => Array.from({ length: 16 }, () => Buffer.alloc(8 * MIB, 1));

  test('counts Buffers', () => {
    const measure = createMemoryGauge(boundary());
    const before = measure(0);
    const held = buffers();

    const after = measure(1);

    expect(before.isFull).toBe(false);
    expect(after.isFull).toBe(true);
    expect(after.bytes - before.bytes).toBeGreaterThan(64 * MIB);
    expect(held).toHaveLength(16);
  });

  test('does not take garbage for something that is held', () => {
    const measure = createMemoryGauge(boundary());
    buffers();

    expect(measure(0).isFull).toBe(false);
  });

  test('does not collect garbage all the time where there is hardly room', () => {
    const measure = createMemoryGauge(1);

    expect([0, 1000, 4999, 5000].map((now) => measure(now).isFull)).toEqual([true, false, false, true]);
  });
});
