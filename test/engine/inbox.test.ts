import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createInbox } from '../../src/engine/inbox.ts';

/** A disk that writes when told to: each batch waits for its verdict. */
class Disk {
  readonly batches: number[][] = [];
  readonly written: number[] = [];
  readonly fatal: unknown[] = [];
  idle = 0;
  readonly #verdicts: { resolve(refused: number[]): void; reject(error: unknown): void }[] = [];
  readonly inbox = createInbox<number>({
    write: (entries) => {
      this.batches.push(entries);
      return new Promise((resolve, reject) => this.#verdicts.push({ resolve, reject }));
    },
    onIdle: () => {
      this.idle += 1;
    },
    onFatal: (error) => this.fatal.push(error),
  });

  async store(batch: number): Promise<void> {
    this.written.push(...(this.batches[batch] ?? []));
    this.#verdicts[batch]?.resolve([]);
    await settled();
  }

  async refuse(batch: number): Promise<void> {
    this.#verdicts[batch]?.resolve([...(this.batches[batch] ?? [])]);
    await settled();
  }

  async break(batch: number, error: unknown): Promise<void> {
    this.#verdicts[batch]?.reject(error);
    await settled();
  }
}

const settled = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('sends what has gathered while two batches are under way as one', async () => {
  const disk = new Disk();
  disk.inbox.put([1]);
  disk.inbox.put([2]);
  disk.inbox.put([3]);
  disk.inbox.put([4]);

  await disk.store(0);

  expect(disk.batches).toEqual([[1], [2], [3, 4]]);
});

test('writes again, in the first order, what there was no space for, and nothing overtakes it', async () => {
  const disk = new Disk();
  disk.inbox.put([1]);
  disk.inbox.put([2]);
  disk.inbox.put([3]);
  await disk.refuse(0);
  await disk.refuse(1);
  disk.inbox.put([4]);
  expect(disk.batches).toHaveLength(2);

  await vi.advanceTimersByTimeAsync(1000);
  await disk.store(2);

  expect(disk.written).toEqual([1, 2, 3, 4]);
});

test('waits for all that is under way before it writes again', async () => {
  const disk = new Disk();
  disk.inbox.put([1]);
  disk.inbox.put([2]);
  await disk.refuse(0);

  await vi.advanceTimersByTimeAsync(5000);
  expect(disk.batches).toHaveLength(2);

  await disk.refuse(1);
  await vi.advanceTimersByTimeAsync(1000);
  expect(disk.batches.at(2)).toEqual([1, 2]);
});

test('tries as often as it takes', async () => {
  const disk = new Disk();
  disk.inbox.put([1]);
  for (let attempt = 0; attempt < 5; attempt++) {
    await disk.refuse(attempt);
    await vi.advanceTimersByTimeAsync(1000);
  }

  await disk.store(5);

  expect(disk.written).toEqual([1]);
});

test('tells of what must not happen', async () => {
  const disk = new Disk();
  disk.inbox.put([1]);

  await disk.break(0, new Error('a bug'));

  expect(disk.fatal).toEqual([new Error('a bug')]);
});

test('is idle when all is written, not while something waits to be written again', async () => {
  const disk = new Disk();
  disk.inbox.put([1]);
  await disk.refuse(0);
  expect(disk.idle).toBe(0);

  await vi.advanceTimersByTimeAsync(1000);
  await disk.store(1);

  expect(disk.idle).toBe(1);
});

test('writes nothing more once it is stopped, and takes no failure for a fatal one', async () => {
  const disk = new Disk();
  disk.inbox.put([1]);
  disk.inbox.put([2]);
  await disk.refuse(0);

  disk.inbox.stop();
  await disk.break(1, new Error('The store is closed.'));
  disk.inbox.put([3]);
  await vi.advanceTimersByTimeAsync(5000);

  expect(disk.batches).toHaveLength(2);
  expect(disk.fatal).toEqual([]);
});
