import { cpSync, rmSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import type { Cursor } from '../../src/model/cursor.ts';
import { epochAt, judgeCursor } from '../../src/model/epoch.ts';
import type { TaskRecord } from '../../src/model/task.ts';
import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { copyDirectory, newDirectory } from '../support/store-directory.ts';
import { noteEvents, Owner } from '../support/store-owner.ts';

describe('cursors', () => {
  const opened: Store[] = [];
  const open = (dir: string) => {
    const store = openSqliteStoreInProcess({ dir });
    opened.push(store);
    return store;
  };
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });

  const cursors = async (store: Store, seqs: readonly number[]): Promise<Cursor[]> => {
    const { epochs } = await store.log('ann');
    return seqs.map((seq) => {
      const epoch = epochAt(epochs, seq);
      if (epoch === null) throw new Error('The log has no epoch yet.');
      return { epoch, seq, until: null };
    });
  };
  const judge = async (store: Store, ...given: Cursor[]) => {
    const { epochs, head } = await store.log('ann');
    return given.map((each) => judgeCursor(epochs, head, each));
  };
  /** Appends so many events to the owner's log and gives back the cursors of all places up to its head. */
  const grow = async (store: Store, events: number): Promise<Cursor[]> => {
    const ann = new Owner(store, 'ann');
    const [running] = await store.listTasks('ann', { status: ['running'], limit: 1, order: 'asc' });
    const task: TaskRecord = running ?? (await ann.start());
    await ann.append(task, noteEvents(task.id, events));
    const { head } = await store.log('ann');
    return cursors(store, [...Array(head + 1).keys()]);
  };

  test('stay what they were across ordinary restarts', async () => {
    const dir = newDirectory();
    const before: Cursor[][] = [];
    for (let boot = 0; boot < 3; boot++) {
      const store = open(dir);
      before.push(await grow(store, 3));
      await store.close();
    }

    const store = open(dir);

    for (const minted of before) {
      expect(new Set(await judge(store, ...minted))).toEqual(new Set(['valid']));
      expect(await cursors(store, [...minted.keys()])).toEqual(minted);
    }
    expect((await store.log('ann')).epochs).toHaveLength(3);
  });

  test('of a boot that wrote nothing do not exist, so a restart resets nobody', async () => {
    const dir = newDirectory();
    const first = open(dir);
    const [last] = (await grow(first, 3)).slice(-1);
    await first.close();

    const second = open(dir);

    expect(await cursors(second, [5])).toEqual([last]);
    expect(second.epoch).not.toBe(last?.epoch);
  });

  test('of what a restore has lost are refused, before and after others take those places', async () => {
    const dir = newDirectory();
    const first = open(dir);
    const kept = await grow(first, 3);
    await first.close();
    const backup = copyDirectory(dir);
    const second = open(dir);
    const lost = (await grow(second, 4)).slice(kept.length);
    await second.close();

    const restored = open(backup);

    expect(new Set(await judge(restored, ...kept))).toEqual(new Set(['valid']));
    expect(new Set(await judge(restored, ...lost))).toEqual(new Set(['unknown']));
    await grow(restored, 20);
    expect(new Set(await judge(restored, ...kept))).toEqual(new Set(['valid']));
    expect(new Set(await judge(restored, ...lost))).toEqual(new Set(['unknown']));
  });

  test('are ahead where a copy was taken in the middle of an epoch', async () => {
    const dir = newDirectory();
    const first = open(dir);
    const kept = await grow(first, 3);
    const backup = copyDirectory(dir);
    const lost = (await grow(first, 4)).slice(kept.length);
    await first.close();
    rmSync(dir, { recursive: true });
    cpSync(backup, dir, { recursive: true });

    const back = open(dir);

    expect(new Set(await judge(back, ...kept))).toEqual(new Set(['valid']));
    expect(new Set(await judge(back, ...lost))).toEqual(new Set(['ahead']));
    const after = await grow(back, 20);
    expect(new Set(await judge(back, ...lost))).toEqual(new Set(['ahead']));
    expect(new Set(await judge(back, ...after))).toEqual(new Set(['valid']));
  });

  test('of one fork mean nothing to the other', async () => {
    const dir = newDirectory();
    const origin = open(dir);
    const common = await grow(origin, 3);
    await origin.close();
    const [left, right] = [open(dir), open(copyDirectory(dir))];

    const ofLeft = (await grow(left, 5)).slice(common.length);
    const ofRight = (await grow(right, 5)).slice(common.length);

    expect(new Set(await judge(left, ...common, ...ofLeft))).toEqual(new Set(['valid']));
    expect(new Set(await judge(right, ...common, ...ofRight))).toEqual(new Set(['valid']));
    expect(new Set(await judge(left, ...ofRight))).toEqual(new Set(['unknown']));
    expect(new Set(await judge(right, ...ofLeft))).toEqual(new Set(['unknown']));
  });
});
