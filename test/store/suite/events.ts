import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { noteEvents, Owner } from '../../support/store-owner.ts';

export function testEvents(store: () => Store): void {
  describe('reading events', () => {
    test('gives the events as they were written, whatever is in them', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      const json = fc.json({ stringUnit: 'binary' }).map((text) => JSON.stringify(JSON.parse(text)));
      const step = fc.option(fc.record({ name: fc.string({ unit: 'grapheme' }), attempt: fc.nat() }));
      const samples = fc.sample(
        fc.tuple(
          json,
          step.map((ref) => ref && JSON.stringify(ref)),
        ),
        150,
      );
      const events = samples.map(([data, ref]) => ({
        taskId: task.id,
        conversationId: null,
        type: 'note.taken',
        step: ref,
        data,
      }));

      const batch = await ann.append(task, events);

      const page = await ann.read({ after: 2 });
      expect(page.events).toEqual(batch.events);
      expect(page.events.map(({ data }) => data)).toEqual(samples.map(([data]) => data));
    });

    test('cuts a page at 200 rows and goes on behind it', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      await ann.append(task, noteEvents(task.id, 250));

      const first = await ann.read({ limit: 1000 });
      const second = await ann.read({ after: first.scannedTo });

      expect(first).toMatchObject({ scannedTo: 200 });
      expect(first.events).toHaveLength(200);
      expect(second.scannedTo).toBe(252);
      expect(second.events).toHaveLength(52);
    });

    test('takes a smaller limit', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      await ann.append(task, noteEvents(task.id, 10));

      const page = await ann.read({ limit: 3 });

      expect(page.events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
      expect(page.scannedTo).toBe(3);
    });

    test('cuts a page at about 256 KiB', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      await ann.append(
        task,
        noteEvents(task.id, 8, () => JSON.stringify('é'.repeat(25_000))),
      );

      const page = await ann.read();

      expect(page.events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
      expect(page.scannedTo).toBe(7);
      expect(await ann.seqs({ after: 7 })).toEqual([8, 9, 10]);
    });

    test('gives an event that is larger than a page all the same', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      await ann.append(
        task,
        noteEvents(task.id, 2, () => JSON.stringify('x'.repeat(300_000))),
      );

      const page = await ann.read({ after: 2 });

      expect(page.events.map(({ seq }) => seq)).toEqual([3]);
      expect(page.scannedTo).toBe(3);
    });

    test('stays within `after` and `upTo`, and moves on where nothing is', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      await ann.append(task, noteEvents(task.id, 5));

      expect(await ann.read({ after: 2, upTo: 4 })).toMatchObject({ scannedTo: 4, events: [{ seq: 3 }, { seq: 4 }] });
      expect(await ann.read({ after: 7, upTo: 7 })).toEqual({ scannedTo: 7, events: [] });
      expect(await ann.read({ after: 7, upTo: 5 })).toEqual({ scannedTo: 7, events: [] });
    });

    test('goes up to the head, and no further, unless `upTo` says otherwise', async () => {
      const ann = new Owner(store());
      const task = await ann.start();
      await ann.append(task, noteEvents(task.id, 3));
      const nothing = { events: [], scannedTo: 5 };

      expect(await ann.read({ after: 3, upTo: null })).toMatchObject({
        scannedTo: 5,
        events: [{ seq: 4 }, { seq: 5 }],
      });
      expect(await ann.read({ after: 5, upTo: null })).toEqual(nothing);
      expect(await ann.read({ after: 2, upTo: null, unfinishedAt: 5, limit: 2 })).toMatchObject({ scannedTo: 4 });
      const { id } = await ann.finish(task);
      expect(await ann.read({ upTo: null, unfinishedAt: 6 })).toEqual({ events: [], scannedTo: 6 });
      expect(await ann.read({ upTo: null, scope: { kind: 'root', taskId: id } })).toMatchObject({ scannedTo: 6 });
      expect(await new Owner(store()).read({ upTo: null })).toEqual({ events: [], scannedTo: 0 });
    });

    test('looks at no more than 5,000 seqs at once', async () => {
      const ann = new Owner(store());
      const noisy = await ann.start();
      const quiet = await ann.start();
      for (let i = 0; i < 13; i++) await ann.append(noisy, noteEvents(noisy.id, 400));
      await ann.finish(noisy);
      const unfinishedAt = (await store().log(ann.name)).head;

      const first = await ann.read({ after: 4, unfinishedAt });
      const second = await ann.read({ after: first.scannedTo, unfinishedAt });

      expect(first).toEqual({ events: [], scannedTo: 5_004 });
      expect(second).toEqual({ events: [], scannedTo: unfinishedAt });
      expect(await ann.seqs({ scope: { kind: 'root', taskId: quiet.id } })).toEqual([3, 4]);
    });

    test("finds a root's events across any distance", async () => {
      const ann = new Owner(store());
      const quiet = await ann.start();
      const noisy = await ann.start();
      for (let i = 0; i < 13; i++) await ann.append(noisy, noteEvents(noisy.id, 400));
      const { firstSeq } = await ann.append(quiet);

      const page = await ann.read({ scope: { kind: 'root', taskId: quiet.id } });

      expect(page.events.map(({ seq }) => seq)).toEqual([1, 2, firstSeq]);
      expect(page.scannedTo).toBe(firstSeq);
    });

    test('retells only what had not ended by then', async () => {
      const ann = new Owner(store());
      const ended = await ann.start();
      const ending = await ann.start();
      const open = await ann.start();
      await ann.finish(ended);
      const until = (await store().log(ann.name)).head;
      await ann.finish(ending);

      const page = await ann.read({ unfinishedAt: until });

      expect(new Set(page.events.map(({ taskId }) => taskId))).toEqual(new Set([ending.id, open.id]));
      expect(page.events.map(({ seq }) => seq)).toEqual([3, 4, 5, 6, 8]);
    });

    test('begins a retelling before the oldest unfinished task', async () => {
      const ann = new Owner(store());
      expect(await store().unfinishedFrom(ann.name)).toBeNull();
      const first = await ann.start();
      const second = await ann.start();

      expect(await store().unfinishedFrom(ann.name)).toBe(0);
      await ann.finish(first);
      expect(await store().unfinishedFrom(ann.name)).toBe(2);
      await ann.finish(second);
      expect(await store().unfinishedFrom(ann.name)).toBeNull();
    });

    test("gives nothing of another owner's, by whatever scope", async () => {
      const [ann, ben] = [new Owner(store()), new Owner(store())];
      const { id } = await ann.start();

      const upTo = 10;
      expect(await ben.seqs({ upTo })).toEqual([]);
      expect(await ben.seqs({ upTo, scope: { kind: 'root', taskId: id } })).toEqual([]);
      expect(await ben.seqs({ upTo, scope: { kind: 'child', taskId: id, rootId: id } })).toEqual([]);
    });
  });
}
