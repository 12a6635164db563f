import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TaskRecord } from '../../../src/model/task.ts';
import type { HeldTask, Store } from '../../../src/store/store.ts';
import { newDirectory } from '../../support/store-directory.ts';
import { Owner } from '../../support/store-owner.ts';
import type { Engine } from '../store.suite.ts';

/** What a process finds of those that were there before it. */
export function testLeavings(engine: Engine): void {
  describe('what a process that is gone has left', () => {
    let dir: string;
    let store: Store;
    let ann: Owner;
    let ben: Owner;
    beforeEach(() => {
      dir = newDirectory();
      return open();
    });
    afterEach(() => store.close());

    async function open(): Promise<void> {
      store = await engine.open({ dir });
      ann = new Owner(store, 'ann');
      ben = new Owner(store, 'ben');
    }

    /** Another process takes the place of this one, which is gone. */
    async function restart(): Promise<void> {
      await store.close();
      await open();
    }

    test('is held until it is taken back or let go', async () => {
      await ann.create();
      await ann.finish(await ann.start());
      const running = await ann.start();
      const cancelled = await ben.start();
      await ben.cancel(cancelled.id);
      const waiting = await ben.start();
      await ben.sleep(waiting, 'nap', 60_000);
      await ben.wait(waiting, ['nap']);

      await restart();

      const left = [held(running), held(await ben.task(cancelled.id))];
      expect(await store.orphans(10)).toEqual(expect.arrayContaining(left));
      expect(await store.orphans(10)).toHaveLength(2);
      expect(await store.orphans(1)).toHaveLength(1);
      await ann.requeue(running, 'crashed');
      await ben.release(cancelled);
      expect(await store.orphans(10)).toEqual([]);
    });

    test('shows its suspects, the one that began last first', async () => {
      const ids = [(await ann.create()).id, (await ben.create()).id];
      for (const [at, owner] of [ann, ben].entries()) await owner.crashTwice(ids[at] ?? '');
      const first = await ben.claim(ids[1] ?? '');
      await ben.later(first.runningSince ?? 0);
      const second = await ann.claim(ids[0] ?? '');
      await ann.start();
      expect(await store.suspects(10)).toEqual([]);

      await restart();

      expect(await store.newestSuspects(2)).toEqual([held(second), held(first)]);
      expect(await store.newestSuspects(1)).toEqual([held(second)]);
    });

    test('is found though its conversation was deleted', async () => {
      const { id } = await ann.open();
      const turn = await ann.claim((await ann.post(id, 'a')).id);
      await ann.remove(id);

      await restart();

      expect(await store.orphans(10)).toMatchObject([{ owner: 'ann', taskId: turn.id, fence: 1, status: 'cancelled' }]);
      await ann.release(turn);
      expect(await store.orphans(10)).toEqual([]);
    });

    test('names the one that claimed it, as the next names itself otherwise', async () => {
      const before = store.node;
      const task = await ann.start();

      await restart();

      expect(store.node).not.toBe(before);
      expect((await ann.task(task.id)).node).toBe(before);
      await ann.requeue(task, 'crashed');
      expect((await ann.claim(task.id)).node).toBe(store.node);
    });

    test('keeps its cursors and its epoch', async () => {
      const task = await ann.start();
      const { epochs } = await store.log('ann');

      await restart();
      expect(await store.log('ann')).toEqual({ head: 2, prunedSeq: 0, epochs });
      const { epoch } = await ann.append(task);

      expect(epochs).toEqual([{ epoch: expect.stringMatching(/^\w{8}$/), firstSeq: 1 }]);
      expect(epoch).not.toBe(epochs[0]?.epoch);
      expect((await store.log('ann')).epochs).toEqual([...epochs, { epoch, firstSeq: 3 }]);
    });
  });
}

function held({ owner, id: taskId, fence, status, runningSince }: TaskRecord): HeldTask {
  return { owner, taskId, fence, status, runningSince };
}
