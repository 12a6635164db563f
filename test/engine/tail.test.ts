import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newDirectory } from '../support/store-directory.ts';
import { noteEvents } from '../support/store-owner.ts';
import {
  allDone,
  LOG,
  openPublishedStore,
  openReader,
  type PublishedStore,
  type RecordingReader,
  storedFrames,
  subjectOf,
  turn,
} from './published-store.ts';

let engine: PublishedStore;
beforeEach(() => {
  engine = openPublishedStore();
});
afterEach(() => engine.store.close());

function kinds({ signals }: { signals: { kind: string }[] }): string[] {
  return signals.map(({ kind }) => kind);
}

describe('catching up and following', () => {
  test('tells what is on disk, that it has caught up, and then what comes: the bytes of the store', async () => {
    const { store, ann } = engine;
    const task = await ann.start();
    await ann.append(task, noteEvents(task.id, 450));

    const reader = await openReader(engine, LOG, { from: '0' });
    await reader.until(() => reader.signals.length > 0);
    const before = reader.seqs().length;
    for (let i = 0; i < 5; i++) await ann.append(task, noteEvents(task.id, 3));
    await ann.finish(task);
    await reader.until(() => reader.seqs().length === 468);

    expect(before).toBe(452);
    expect(reader.frames()).toBe(await storedFrames(store, LOG, 0));
    expect(reader.signals).toEqual([{ kind: 'caught-up', cursor: `${store.epoch}.452` }]);
  });

  test('loses nothing where the news of a commit never came', async () => {
    const { store, ann, unheard } = engine;
    const task = await ann.start();
    const reader = await openReader(engine, LOG, { from: '0' });
    await ann.append(task);
    await allDone();

    await unheard.append(task, noteEvents(task.id, 3));
    await ann.append(task);
    await reader.until(() => reader.seqs().length === 7);

    expect(reader.frames()).toBe(await storedFrames(store, LOG, 0));
  });

  test('tells nothing twice that it read from the store before the news of it came', async () => {
    const { store, hub, ann, unheard } = engine;
    const task = await ann.start();
    const batch = await unheard.append(task, noteEvents(task.id, 2));
    const reader = await openReader(engine, LOG, { from: '0' });
    await reader.until(() => reader.signals.length > 0);

    hub.onCommitted('ann', [], batch);
    await ann.append(task);
    await reader.until(() => reader.seqs().includes(5));

    expect(reader.frames()).toBe(await storedFrames(store, LOG, 0));
  });

  test('lets others run between two pages', async () => {
    const { ann } = engine;
    const task = await ann.start();
    await ann.append(task, noteEvents(task.id, 700));

    const reader = await openReader(engine, LOG, { from: '0' });
    const told = [reader.seqs().length];
    while (reader.signals.length === 0) {
      await turn();
      told.push(reader.seqs().length);
    }

    expect(told.slice(0, 4)).toEqual([200, 400, 600, 702]);
  });

  test('lets others run between two pages of a reader that is full each time and takes all of it at once', async () => {
    const { ann } = engine;
    const task = await ann.start();
    await ann.append(task, noteEvents(task.id, 700));
    const onSend = (full: RecordingReader) => process.nextTick(() => full.tail.resume());

    const reader = await openReader(engine, LOG, { from: '0', full: true, onSend });
    const told = [reader.seqs().length];
    while (reader.signals.length === 0) {
      await turn();
      told.push(reader.seqs().length);
    }

    expect([...new Set(told)]).toEqual([200, 400, 600, 702]);
  });

  test('is not driven faster by rings that come while it yields', async () => {
    const { store, ann } = engine;
    const task = await ann.start();
    await ann.append(task, noteEvents(task.id, 500));

    const reader = await openReader(engine, LOG, { from: '0' });
    for (let i = 0; i < 10; i++) await ann.append(task);
    await reader.until(() => reader.seqs().length === 512);
    await allDone();

    expect(reader.frames()).toBe(await storedFrames(store, LOG, 0));
    expect(kinds(reader)).toEqual(['caught-up']);
  });

  test('ends with the id of the last event, and follows no more', async () => {
    const { store, hub, ann } = engine;
    const task = await ann.start();
    const reader = await openReader(engine, await subjectOf(store, task.id));
    await reader.until(() => reader.signals.length > 0);

    await ann.finish(task);
    await reader.until(() => kinds(reader).includes('end'));
    const { calls } = reader;
    await ann.start();
    await allDone();

    expect(reader.signals.at(-1)).toEqual({ kind: 'end', cursor: `${store.epoch}.3` });
    expect(reader.calls).toBe(calls);
    // Nobody is left: the rings begin anew.
    expect(hub.subscribe('ann', LOG.scope, () => {}).after(3)).toBeNull();
  });
});

describe('a slow reader', () => {
  test('is sent nothing more until it has taken what it has', async () => {
    const { ann } = engine;
    const task = await ann.start();
    await ann.append(task, noteEvents(task.id, 500));
    const reader = await openReader(engine, LOG, { from: '0', full: true });

    await ann.append(task);
    await allDone();

    expect(reader.seqs()).toHaveLength(200);
    expect(reader.calls).toBe(1);
  });

  test.each([1, 2, 3, 4, 5])('loses nothing however often it is full, live and in a replay (%i)', async (seed) => {
    const { store, ann } = engine;
    const random = seeded(seed);
    const task = await ann.start();
    await ann.append(task, noteEvents(task.id, 900));
    const reader = await openReader(engine, await subjectOf(store, task.id), {
      onSend(self) {
        self.full = random() < 0.5;
        if (self.full) setImmediate(() => self.tail.resume());
      },
    });

    for (let i = 0; i < 200; i++) {
      await ann.append(task, noteEvents(task.id, 1 + Math.floor(random() * 5)));
      if (random() < 0.3) await turn();
    }
    await ann.finish(task);
    await reader.until(() => kinds(reader).includes('end'));

    expect(reader.frames()).toBe(await storedFrames(store, LOG, 0));
    expect(kinds(reader)).toEqual(['caught-up', 'end']);
  });

  // Would fail if it waited for the next event once it had been given as much as is given at a time.
  test('that is far behind in the ring gets all of it, though nothing more comes', async () => {
    const { store, ann } = engine;
    const task = await ann.start();
    const reader = await openReader(engine, LOG, { from: '0' });
    await reader.until(() => reader.signals.length > 0);
    reader.full = true;
    const large = () => JSON.stringify('x'.repeat(50_000));
    for (let i = 0; i < 3; i++) await ann.append(task, noteEvents(task.id, 10, large));
    await allDone();
    reader.full = false;

    reader.tail.resume();
    await reader.until(() => reader.seqs().length === 32);

    expect(reader.frames()).toBe(await storedFrames(store, LOG, 0));
  });

  test('that was left behind by the ring goes on from the store', async () => {
    const { store, ann } = engine;
    const task = await ann.start();
    const reader = await openReader(engine, LOG, { from: '0' });
    await reader.until(() => reader.signals.length > 0);
    reader.full = true;
    for (let i = 0; i < 12; i++) await ann.append(task, noteEvents(task.id, 250));
    await allDone();

    reader.full = false;
    reader.tail.resume();
    await reader.until(() => reader.seqs().length === 3002);

    expect(reader.frames()).toBe(await storedFrames(store, LOG, 0));
  });

  test('is told of a hole that pruning made while it did not read, and goes on behind it', async () => {
    const { store, ann } = engine;
    const [old, open] = [await ann.start(), await ann.start()];
    await ann.append(old, noteEvents(old.id, 300));
    const reader = await openReader(engine, LOG, { from: '0', full: true });

    await ann.append(open, noteEvents(open.id, 450));
    await ann.finish(old);
    await ann.prune(old.id);
    reader.full = false;
    reader.tail.resume();
    await reader.until(() => kinds(reader).includes('caught-up'));

    const { head } = await store.log('ann');
    expect(reader.signals).toEqual([
      { kind: 'reset expired', cursor: `${store.epoch}.2.${head}` },
      { kind: 'caught-up', cursor: `${store.epoch}.${head}` },
    ]);
    expect(reader.seqs().slice(200)).toEqual([3, 4, ...Array.from({ length: 450 }, (_, n) => 305 + n)]);
  });
});

describe('a reader that is gone', () => {
  test('is told nothing more, also when it goes in the middle of a send', async () => {
    const { ann } = engine;
    const task = await ann.start();
    await ann.append(task, noteEvents(task.id, 500));
    const reader = await openReader(engine, LOG, {
      from: '0',
      onSend: ({ tail, seqs }) => seqs().length > 200 && tail.close(),
    });

    await ann.append(task);
    await allDone();

    expect(reader.seqs()).toHaveLength(400);
    expect(reader.signals).toEqual([]);
  });

  test('is told nothing when what it waited for comes', async () => {
    const { ann } = engine;
    const task = await ann.start();
    const reader = await openReader(engine, LOG, { from: '0' });
    await reader.until(() => reader.signals.length > 0);
    const { calls } = reader;

    reader.tail.close();
    await ann.append(task);
    reader.tail.resume();
    await allDone();

    expect(reader.calls).toBe(calls);
    expect(reader.tail.movedCursor()).toBeNull();
  });
});

describe('a filtered reader', () => {
  const passes = (type: string) => type === 'note.taken';

  test('is sent what passes, live and in a replay, in the same bytes', async () => {
    const { store, ann } = engine;
    const task = await ann.start();
    await ann.append(task, noteEvents(task.id, 250));
    const reader = await openReader(engine, await subjectOf(store, task.id), { passes });
    await reader.until(() => reader.signals.length > 0);

    await ann.ask(task, 'go');
    await ann.append(task);
    await ann.finish(task);
    await reader.until(() => kinds(reader).includes('end'));

    const frames = (await storedFrames(store, LOG, 0)).split(/(?<=\n\n)/);
    expect(reader.frames()).toBe(frames.filter((frame) => frame.includes('"type":"note.taken"')).join(''));
    expect(reader.signals.at(-1)?.cursor).toBe(`${store.epoch}.${(await store.log('ann')).head}`);
  });

  test('has a moved cursor only when its place moved without an event, and once for each move', async () => {
    const { store, ann } = engine;
    const task = await ann.start();
    const reader = await openReader(engine, LOG, { from: '0', passes });
    await reader.until(() => reader.signals.length > 0);
    const atFirst = reader.tail.movedCursor();

    await ann.ask(task, 'go');
    await allDone();
    const moved = [reader.tail.movedCursor(), reader.tail.movedCursor()];
    await ann.append(task);
    await allDone();
    const afterEvent = reader.tail.movedCursor();

    expect(atFirst).toBeNull();
    expect(moved).toEqual([`${store.epoch}.3`, null]);
    expect(afterEvent).toBeNull();
    const resumed = await openReader(engine, LOG, { from: moved[0] ?? null, passes });
    expect(resumed.seqs()).toEqual([4]);
  });
});

describe('pruning and trouble', () => {
  test('leave no hole untold where something is pruned between a look at the mark and the read', async () => {
    const dir = newDirectory();
    const onDisk = openPublishedStore({ dir });
    const [old, open] = [await onDisk.ann.start(), await onDisk.ann.start()];
    await onDisk.ann.finish(old);
    await onDisk.ann.append(open);
    let pages = 0;
    // Another thread's commit, at the worst moment.
    const store: typeof onDisk.store = {
      ...onDisk.store,
      snapshot: (ask) =>
        onDisk.store.snapshot((reads) =>
          ask({
            ...reads,
            readEvents(owner, query) {
              if (++pages === 1) void onDisk.unheard.prune(old.id);
              return reads.readEvents(owner, query);
            },
          }),
        ),
    };

    const reader = await openReader({ store, hub: onDisk.hub }, LOG, { from: '0' });
    await reader.until(() => kinds(reader).includes('caught-up'));

    expect(reader.seqs()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(kinds(reader)).toEqual(['caught-up']);
    expect((await onDisk.store.log('ann')).prunedSeq).toBe(5);
    await onDisk.store.close();
  });

  test('tell the reader to come back when the store cannot be read, and throw at nobody', async () => {
    const broken = openPublishedStore();
    const task = await broken.ann.start();
    const reader = await openReader(broken, LOG, { from: '0', full: true });
    await broken.unheard.append(task);
    await broken.ann.append(task);
    await broken.store.close();

    reader.full = false;
    reader.tail.resume();
    await turn();

    expect(kinds(reader)).toEqual(['caught-up', 'failed']);
    expect(reader.tail.movedCursor()).toBeNull();
  });
});

/** A small generator, so that a failure can be had again. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
