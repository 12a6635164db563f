import { describe, expect, test } from 'vitest';
import { isBetterAlone, placeFor } from '../../src/worker/placement.ts';
import { Suspicions } from '../../src/worker/suspicions.ts';

function place(name: string, freeSlots: number, ...tasks: string[]) {
  return { name, freeSlots, isHealthy: true, copies: tasks.map((taskId) => ({ taskId, fence: 1 })) };
}

function suspecting(deaths: { [taskId: string]: number }): Suspicions {
  const suspicions = new Suspicions();
  for (const [taskId, times] of Object.entries(deaths)) for (let i = 0; i < times; i++) suspicions.note([taskId]);
  return suspicions;
}

describe('the place for a copy', () => {
  const empty = place('empty', 128);
  const full = place('full', 1, 'task_1');

  test('is the thread with the most free slots among those that answer', () => {
    const hung = { ...place('hung', 128), isHealthy: false };

    expect(placeFor('task', [hung, full, empty], new Suspicions())).toBe(empty);
    expect(placeFor('task', [hung], new Suspicions())).toBeNull();
  });

  test('is apart from other tasks that were in two threads whose death nobody can explain', () => {
    const suspicions = suspecting({ task: 2, task_2: 2 });
    const withSuspect = place('with a suspect', 128, 'task_2');

    expect(placeFor('task', [withSuspect, full], suspicions)).toBe(full);
    expect(placeFor('other', [withSuspect, full], suspicions)).toBe(withSuspect);
  });

  test('is a thread of its own after two such deaths, for a few tasks, and for more with every death', () => {
    expect(isBetterAlone(1, 0)).toBe(false);
    expect(isBetterAlone(2, 3)).toBe(true);
    expect(isBetterAlone(2, 4)).toBe(false);
    expect(isBetterAlone(3, 7)).toBe(true);
    expect(isBetterAlone(3, 8)).toBe(false);
  });
});

describe('suspicions', () => {
  test('grow with every death and end with the task', () => {
    const suspicions = suspecting({ a: 2, b: 1 });
    suspicions.note(['a', 'b']);
    expect([suspicions.of('a'), suspicions.of('b'), suspicions.of('c')]).toEqual([3, 2, 0]);

    suspicions.forget('a');

    expect(suspicions.of('a')).toBe(0);
  });

  test('are forgotten, the oldest first, when there are too many', () => {
    const suspicions = suspecting({ first: 1, second: 1 });
    suspicions.note(['first']);

    suspicions.note(Array.from({ length: 9_999 }, (_, i) => `task_${i}`));

    expect(suspicions.of('first')).toBe(2);
    expect(suspicions.of('second')).toBe(0);
  });
});
