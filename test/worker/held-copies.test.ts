import { beforeEach, describe, expect, test } from 'vitest';
import { HeldCopies } from '../../src/worker/held-copies.ts';

const A = { taskId: 'task_a', fence: 1 };
const B = { taskId: 'task_b', fence: 5 };
const OUTPUT = { status: 'completed' as const, output: null };

describe('the copies that a thread holds', () => {
  let copies: HeldCopies;
  beforeEach(() => {
    copies = new HeldCopies();
    copies.start(A);
    copies.start(B);
  });

  test('are numbered as they come', () => {
    expect(copies.start({ taskId: 'task_c', fence: 1 })).toBe(3);
    expect(copies.byIndex(2)).toEqual(B);
    expect(copies.byIndex(4)).toBeNull();
  });

  test('keep their numbers when they are claimed again', () => {
    copies.commanded({ kind: 'adopt', taskId: 'task_a', fence: 2, resolutions: [] }, 0);

    expect(copies.byIndex(1)).toEqual({ taskId: 'task_a', fence: 2 });
  });

  test('are not to be lost any more once they have reported their end', () => {
    copies.reported({ kind: 'end', ...A, n: 3, ending: OUTPUT });

    expect(copies.unfinished()).toEqual([B]);
    expect(copies.byIndex(1)).toBeNull();
    expect(copies.occupied(0)).toBe(1);
    expect(copies.has('task_a')).toBe(true);
  });

  test('are gone when their end is acknowledged', () => {
    copies.reported({ kind: 'end', ...A, n: 3, ending: OUTPUT });
    copies.commanded({ kind: 'ack', ...A, n: 2 }, 0);
    expect(copies.has('task_a')).toBe(true);

    copies.commanded({ kind: 'ack', ...A, n: 3 }, 0);

    expect(copies.has('task_a')).toBe(false);
  });

  test('take no slot while they wait', () => {
    copies.commanded({ kind: 'waited', ...A, n: 1, answer: 'already' }, 0);
    expect(copies.occupied(0)).toBe(2);

    copies.commanded({ kind: 'waited', ...A, n: 1, answer: 'waiting' }, 0);

    expect(copies.occupied(0)).toBe(1);
    expect(copies.unfinished()).toEqual([A, B]);
  });

  test('take a slot when they were told to stop and have not, but not for ever', () => {
    copies.commanded({ kind: 'drop', ...A, reason: 'cancelled' }, 1000);

    expect(copies.occupied(1000)).toBe(2);
    expect(copies.occupied(9999)).toBe(2);
    expect(copies.occupied(10_000)).toBe(1);
    expect(copies.leaving()).toEqual([A]);
  });

  test('take none once they have stopped', () => {
    copies.commanded({ kind: 'drop', ...A, reason: 'cancelled' }, 1000);

    copies.reported({ kind: 'released', ...A });

    expect(copies.occupied(1000)).toBe(1);
    expect(copies.leaving()).toEqual([]);
  });

  test('are not dropped by what names another claim', () => {
    copies.commanded({ kind: 'drop', taskId: 'task_b', fence: 4, reason: 'lost' }, 0);

    expect(copies.unfinished()).toEqual([A, B]);
  });

  test('may be of a task whose last copy has not stopped yet', () => {
    copies.commanded({ kind: 'drop', ...A, reason: 'lost' }, 0);
    copies.start({ taskId: 'task_a', fence: 2 });

    copies.reported({ kind: 'released', ...A });

    expect(copies.unfinished()).toEqual([B, { taskId: 'task_a', fence: 2 }]);
    expect(copies.occupied(0)).toBe(2);
  });
});
