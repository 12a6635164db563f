import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createReleases, type LeavingCopy, type Releases } from '../../src/engine/releases.ts';

let released: string[];
let retired: number[];
let releases: Releases;

beforeEach(() => {
  vi.useFakeTimers();
  released = [];
  retired = [];
  releases = createReleases({
    release: ({ taskId, fence }) => released.push(`${taskId}/${fence}`),
    retire: (worker) => retired.push(worker),
  });
});
afterEach(() => void vi.useRealTimers());

function copy(taskId: string, worker: number | null = 0): LeavingCopy {
  return { owner: 'ann', taskId, fence: 1, worker };
}

test('lets go of a task once its worker says so, and only once', () => {
  releases.add(copy('a'));
  expect(released).toEqual([]);

  releases.released({ taskId: 'a', fence: 1 });
  releases.released({ taskId: 'a', fence: 1 });
  vi.advanceTimersByTime(60_000);

  expect(released).toEqual(['a/1']);
});

test('ignores a copy that nobody waits for', () => {
  releases.add(copy('a'));

  releases.released({ taskId: 'a', fence: 2 });
  releases.released({ taskId: 'b', fence: 1 });

  expect(released).toEqual([]);
});

test('gives up code that has not stopped after ten seconds', () => {
  releases.add(copy('a'));

  vi.advanceTimersByTime(9999);
  expect(released).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(released).toEqual(['a/1']);
});

test('lets go of all at once when there is no worker any more', () => {
  releases.add(copy('a'));
  releases.add(copy('b', null));

  releases.releaseAll();
  vi.advanceTimersByTime(60_000);

  expect(released).toEqual(['a/1', 'b/1']);
});

test('has a thread replaced in which more than 64 do not stop, and then counts anew', () => {
  for (let n = 0; n < 64; n++) releases.add(copy(`a${n}`, 1));
  for (let n = 0; n < 10; n++) releases.add(copy(`b${n}`, 2));
  vi.advanceTimersByTime(10_000);
  releases.released({ taskId: 'a0', fence: 1 });
  releases.add(copy('a64', 1));
  vi.advanceTimersByTime(10_000);
  expect(retired).toEqual([]);

  releases.add(copy('a65', 1));
  vi.advanceTimersByTime(10_000);
  expect(retired).toEqual([1]);

  releases.add(copy('a66', 1));
  vi.advanceTimersByTime(10_000);
  expect(retired).toEqual([1]);
});
