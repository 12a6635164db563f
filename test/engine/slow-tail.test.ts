import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Subject } from '../../src/engine/position.ts';
import { diceOf } from '../support/dice.ts';
import { noteEvents } from '../support/store-owner.ts';
import {
  allDone,
  LOG,
  openPublishedStore,
  openReader,
  type PublishedStore,
  storedFrames,
  subjectOf,
  turn,
} from './published-store.ts';
import { SlowReads } from './slow-reads.ts';

/** A tail while the store takes its time to read a page for it. */
let engine: PublishedStore;
let slow: SlowReads;
beforeEach(() => {
  engine = openPublishedStore();
  slow = new SlowReads(engine.store);
});
afterEach(() => engine.store.close());

/** Opens a tail whose first page is being read. */
async function openSlow(subject: Subject, options: Parameters<typeof openReader>[2] = {}) {
  slow.isSlow = false;
  const onStart = () => {
    slow.isSlow = true;
    slow.begun = 0;
  };
  const reader = await openReader({ store: slow.store, hub: engine.hub }, subject, { from: '0', onStart, ...options });
  expect(slow.held).toBe(1);
  return reader;
}

function kinds({ signals }: { signals: { kind: string }[] }): string[] {
  return signals.map(({ kind }) => kind);
}

describe('while a page is read', () => {
  test('a ring is not lost, and begins no second read', async () => {
    const { store, ann } = engine;
    const task = await ann.start();
    const reader = await openSlow(LOG);

    for (let i = 0; i < 3; i++) {
      await ann.append(task);
      await allDone();
    }
    expect([reader.seqs(), slow.begun]).toEqual([[], 1]);
    slow.release();
    await reader.until(() => reader.seqs().length === 5);
    await allDone();

    expect(reader.frames()).toBe(await storedFrames(store, LOG, 0));
    expect(kinds(reader)).toEqual(['caught-up']);
    expect([slow.begun, slow.held]).toEqual([1, 0]);
  });

  test('what is committed is not lost where the news of it is', async () => {
    const { store, ann, unheard } = engine;
    const task = await ann.start();
    const reader = await openSlow(LOG);

    await unheard.append(task);
    await ann.append(task);
    await allDone();
    slow.isSlow = false;
    slow.release();
    await reader.until(() => reader.seqs().length === 4);

    expect(reader.frames()).toBe(await storedFrames(store, LOG, 0));
  });

  test('a reader that can take more, or says so again and again, begins no second read', async () => {
    const { store, ann } = engine;
    const task = await ann.start();
    await ann.append(task, noteEvents(task.id, 500));
    const reader = await openSlow(LOG);

    while (reader.seqs().length < 502) {
      reader.tail.resume();
      await allDone();
      reader.tail.resume();
      expect(slow.held).toBe(1);
      slow.release();
      await turn();
    }
    slow.isSlow = false;
    if (slow.held > 0) slow.release();
    await allDone();

    expect(reader.frames()).toBe(await storedFrames(store, LOG, 0));
    expect(slow.most).toBe(1);
    expect(slow.begun).toBeLessThan(6);
  });

  test('the page of a reader that has become full meanwhile is the last, until it can take more', async () => {
    const { store, ann } = engine;
    const task = await ann.start();
    await ann.append(task, noteEvents(task.id, 300));
    const reader = await openSlow(LOG);

    reader.full = true;
    slow.release();
    await allDone();
    await ann.append(task);
    await allDone();
    expect([reader.calls, reader.seqs().length, slow.held]).toEqual([1, 200, 0]);

    reader.full = false;
    slow.isSlow = false;
    reader.tail.resume();
    await reader.until(() => reader.seqs().length === 303);
    expect(reader.frames()).toBe(await storedFrames(store, LOG, 0));
  });

  test('a close ends it, and nothing more is told or read', async () => {
    const { hub, ann } = engine;
    const task = await ann.start();
    await ann.append(task, noteEvents(task.id, 300));
    const reader = await openSlow(LOG);

    reader.tail.close();
    slow.release();
    await allDone();
    await ann.append(task);
    reader.tail.resume();
    await allDone();

    expect([reader.calls, reader.signals, slow.begun]).toEqual([0, [], 1]);
    expect(reader.tail.movedCursor()).toBeNull();
    expect(hub.subscribe('ann', LOG.scope, () => {}).after(2)).toBeNull();
  });

  test('the end of what it is about is told once, behind the last event', async () => {
    const { store, ann } = engine;
    const task = await ann.start();
    const subject = await subjectOf(store, task.id);
    const reader = await openSlow(subject);

    await ann.append(task);
    await ann.finish(task);
    await allDone();
    slow.isSlow = false;
    slow.release();
    await reader.until(() => kinds(reader).includes('end'));
    await allDone();

    expect(reader.frames()).toBe(await storedFrames(store, subject, 0));
    expect(reader.signals.at(-1)).toEqual({ kind: 'end', cursor: `${store.epoch}.4` });
    expect(kinds(reader)).toEqual(['caught-up', 'end']);
  });

  test('what is pruned behind it is told as it was then, and a hole before the next page is told', async () => {
    const { store, ann } = engine;
    const [old, open] = [await ann.start(), await ann.start()];
    await ann.append(old, noteEvents(old.id, 300));
    await ann.finish(old);
    const reader = await openSlow(LOG);

    await ann.prune(old.id);
    slow.isSlow = false;
    slow.release();
    await reader.until(() => kinds(reader).includes('caught-up'));

    expect(reader.seqs()).toEqual([...Array.from({ length: 200 }, (_, n) => n + 1), 3, 4]);
    expect(reader.signals[0]).toMatchObject({ kind: 'reset expired' });
    expect(kinds(reader)).toEqual(['reset expired', 'caught-up']);
    expect((await ann.task(open.id)).prunedSeq).toBe(0);
    expect((await store.log('ann')).prunedSeq).toBe(305);
  });

  test('a filtered reader has no moved cursor, and afterwards one for all that was passed over', async () => {
    const { store, ann } = engine;
    const task = await ann.start();
    await ann.append(task, noteEvents(task.id, 3));
    const reader = await openSlow(LOG, { passes: (type) => type === 'never.sent' });

    expect(reader.tail.movedCursor()).toBeNull();
    slow.release();
    await reader.until(() => kinds(reader).includes('caught-up'));
    await ann.append(task);
    await allDone();

    expect(reader.tail.movedCursor()).toBe(`${store.epoch}.6`);
    expect(reader.tail.movedCursor()).toBeNull();
  });
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])('loses nothing, whatever comes while it reads (%i)', async (seed) => {
  const { store, ann, unheard } = engine;
  const dice = diceOf(seed);
  const task = await ann.start();
  await ann.append(task, noteEvents(task.id, 300));
  const subject = await subjectOf(store, task.id);
  const reader = await openSlow(subject, {
    onSend(self) {
      self.full = dice.below(3) === 0;
    },
  });

  for (let i = 0; i < 300; i++) {
    const what = dice.below(6);
    if (what < 2) await ann.append(task, noteEvents(task.id, 1 + dice.below(5)));
    else if (what === 2) await unheard.append(task, noteEvents(task.id, 1 + dice.below(150)));
    else if (what === 3 && slow.held > 0) slow.release();
    else if (what === 4) reader.tail.resume();
    else await turn();
    expect(slow.held).toBeLessThanOrEqual(1);
  }
  await ann.finish(task);
  while (!kinds(reader).includes('end')) {
    reader.full = false;
    if (slow.held > 0) slow.release();
    reader.tail.resume();
    await turn();
  }

  expect(reader.frames()).toBe(await storedFrames(store, subject, 0));
  expect(kinds(reader)).toEqual(['caught-up', 'end']);
});
