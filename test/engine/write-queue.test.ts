import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createWriteQueue, type Written } from '../../src/engine/write-queue.ts';

/** A disk that writes when told to: each batch waits for its verdict, and each repair too. */
class Disk {
  readonly batches: number[][] = [];
  readonly repairs: { broken: number[]; overtaken: number[] }[] = [];
  readonly written: number[] = [];
  readonly fatal: unknown[] = [];
  idle = 0;
  readonly #verdicts: { resolve(written: Written): void; reject(error: unknown): void }[] = [];
  #repaired: (notStored: number[]) => void = () => {};
  readonly queue = createWriteQueue<number>({
    write: (entries) => {
      this.batches.push(entries);
      return new Promise((resolve, reject) => this.#verdicts.push({ resolve, reject }));
    },
    repair: (broken, overtaken) => {
      this.repairs.push({ broken: [...broken], overtaken: [...overtaken] });
      return new Promise((resolve) => {
        this.#repaired = resolve;
      });
    },
    onIdle: () => {
      this.idle += 1;
    },
    onFatal: (error) => this.fatal.push(error),
  });

  async store(batch: number): Promise<void> {
    this.written.push(...(this.batches[batch] ?? []));
    await this.#settle(batch, 'stored');
  }

  refuse(batch: number): Promise<void> {
    return this.#settle(batch, 'full');
  }

  break(batch: number): Promise<void> {
    return this.#settle(batch, 'broken');
  }

  async repair(notStored: number[]): Promise<void> {
    this.#repaired(notStored);
    await settled();
  }

  async fail(batch: number, error: unknown): Promise<void> {
    this.#verdicts[batch]?.reject(error);
    await settled();
  }

  async #settle(batch: number, written: Written): Promise<void> {
    this.#verdicts[batch]?.resolve(written);
    await settled();
  }
}

const settled = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('sends what has gathered while two batches are under way as one', async () => {
  const disk = new Disk();
  disk.queue.put([1]);
  disk.queue.put([2]);
  disk.queue.put([3]);
  disk.queue.put([4]);

  await disk.store(0);

  expect(disk.batches).toEqual([[1], [2], [3, 4]]);
});

test('writes again, in the first order, what there was no space for, and nothing overtakes it', async () => {
  const disk = new Disk();
  disk.queue.put([1]);
  disk.queue.put([2]);
  disk.queue.put([3]);
  await disk.refuse(0);
  await disk.refuse(1);
  disk.queue.put([4]);
  expect(disk.batches).toHaveLength(2);

  await vi.advanceTimersByTimeAsync(1000);
  await disk.store(2);

  expect(disk.written).toEqual([1, 2, 3, 4]);
});

test('waits for all that is under way before it writes again', async () => {
  const disk = new Disk();
  disk.queue.put([1]);
  disk.queue.put([2]);
  await disk.refuse(0);

  await vi.advanceTimersByTimeAsync(5000);
  expect(disk.batches).toHaveLength(2);

  await disk.refuse(1);
  await vi.advanceTimersByTimeAsync(1000);
  expect(disk.batches.at(2)).toEqual([1, 2]);
});

test('tries as often as it takes', async () => {
  const disk = new Disk();
  disk.queue.put([1]);
  for (let attempt = 0; attempt < 5; attempt++) {
    await disk.refuse(attempt);
    await vi.advanceTimersByTimeAsync(1000);
  }

  await disk.store(5);

  expect(disk.written).toEqual([1]);
});

test('repairs a broken batch when nothing else is under way, knowing what has overtaken it', async () => {
  const disk = new Disk();
  disk.queue.put([1]);
  disk.queue.put([2]);
  disk.queue.put([3]);
  await disk.break(0);
  expect(disk.repairs).toEqual([]);

  await disk.store(1);
  expect(disk.repairs).toEqual([{ broken: [1], overtaken: [2] }]);
  disk.queue.put([4]);
  expect(disk.batches).toEqual([[1], [2]]);

  await disk.repair([]);
  expect(disk.batches).toEqual([[1], [2], [3, 4]]);
});

test('writes what a repair had no space for before what came later', async () => {
  const disk = new Disk();
  disk.queue.put([1, 2]);
  disk.queue.put([3]);
  await disk.break(0);
  await disk.refuse(1);
  disk.queue.put([4]);

  await disk.repair([2]);
  expect(disk.batches).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1000);

  expect(disk.repairs).toEqual([{ broken: [1, 2], overtaken: [] }]);
  expect(disk.batches.at(2)).toEqual([2, 3, 4]);
});

test('tells of what must not happen', async () => {
  const disk = new Disk();
  disk.queue.put([1]);

  await disk.fail(0, new Error('a bug'));

  expect(disk.fatal).toEqual([new Error('a bug')]);
});

test('is idle when all is written, not while something waits to be written again', async () => {
  const disk = new Disk();
  disk.queue.put([1]);
  await disk.refuse(0);
  expect(disk.idle).toBe(0);

  await vi.advanceTimersByTimeAsync(1000);
  await disk.store(1);

  expect(disk.idle).toBe(1);
});

test('writes nothing more once it is stopped, and takes no failure for a fatal one', async () => {
  const disk = new Disk();
  disk.queue.put([1]);
  disk.queue.put([2]);
  await disk.refuse(0);

  disk.queue.stop();
  await disk.fail(1, new Error('The store is closed.'));
  disk.queue.put([3]);
  await vi.advanceTimersByTimeAsync(5000);

  expect(disk.batches).toHaveLength(2);
  expect(disk.fatal).toEqual([]);
});
