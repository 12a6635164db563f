import { describe, expect, test } from 'vitest';
import type { Queries, Store } from '../../../src/store/store.ts';
import { Owner } from '../../support/store-owner.ts';

const COMMITS = 40;
const ALL = { scope: { kind: 'log' }, after: 0, upTo: null, unfinishedAt: null, limit: 200 } as const;

export function testSnapshots(store: () => Store): void {
  describe('a snapshot', () => {
    test('shows one instant, whatever is written meanwhile', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      let written = 0;
      const writing = (async () => {
        for (; written < COMMITS; written++) {
          await ann.append(task);
          await turn();
        }
      })();
      const look = (reads: Queries) =>
        Promise.all([reads.task(ann.name, task.id), reads.log(ann.name), reads.readEvents(ann.name, ALL)]);

      const seen: Awaited<ReturnType<typeof look>>[] = [];
      while (written < COMMITS) {
        seen.push(await store().snapshot(look));
        await turn();
      }
      await writing;

      const places = seen.map(([found, { head }, { events, scannedTo }]) => [
        ...[found?.lastSeq, head, scannedTo, events.at(-1)?.seq],
      ]);
      expect(places).toEqual(seen.map(([, { head }]) => [head, head, head, head]));
      expect(new Set(seen.map(([, { head }]) => head)).size).toBeGreaterThan(3);
    });

    test('gives what was made of its reads, and has all that was acknowledged', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      const question = await ann.ask(task, 'month');

      const seen = await store().snapshot(async (reads) => {
        const [found, { head }, list] = await Promise.all([
          reads.question(ann.name, question.id),
          reads.log(ann.name),
          reads.listTasks(ann.name, { limit: 9, order: 'asc' }),
        ]);
        return { head, questions: [found], tasks: list.map(({ id }) => id) };
      });

      expect(seen).toEqual({ head: 3, questions: [question], tasks: [task.id] });
    });

    test('may be taken while others are', async () => {
      const ann = new Owner(store());
      await ann.start();

      const seen = await Promise.all(
        Array.from({ length: 20 }, () =>
          store().snapshot((reads) => Promise.all([reads.log(ann.name), reads.unfinishedRoots(ann.name)])),
        ),
      );

      expect(seen.map(([{ head }, count]) => [head, count])).toEqual(Array(20).fill([2, 1]));
    });

    test('refuses a read that comes after the first wait', async () => {
      const ann = new Owner(store());
      await ann.start();
      const first: number[] = [];

      const late = store().snapshot(async (reads) => {
        first.push((await reads.log(ann.name)).head);
        return reads.log(ann.name);
      });

      await expect(late).rejects.toThrow();
      expect(first).toEqual([2]);
      expect(await store().log(ann.name)).toMatchObject({ head: 2 });
    });

    test('refuses every read when it is over', async () => {
      const ann = new Owner(store());
      const kept: Queries[] = [];
      await store().snapshot((reads) => {
        kept.push(reads);
        return reads.log(ann.name);
      });

      const late = async () => kept[0]?.log(ann.name);

      await expect(late()).rejects.toThrow();
    });

    test('fails as its function does, and does no harm to those after it', async () => {
      const ann = new Owner(store());
      const fail = () => Promise.reject(new Error('rejected'));
      const fling = () => {
        throw new Error('thrown');
      };

      await expect(store().snapshot(fail)).rejects.toThrow('rejected');
      await expect(store().snapshot(fling)).rejects.toThrow('thrown');

      await ann.start();
      expect(await store().snapshot((reads) => reads.log(ann.name))).toMatchObject({ head: 2 });
    });
  });
}

/** Lets whatever else is under way go on. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
