import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { noteEvents, Owner } from '../../support/store-owner.ts';
import { allDone, LOG, openReader, storedFrames, subjectOf } from '../published-store.ts';
import { ScriptedPool } from '../scripted-pool.ts';
import { type EngineNode, startEngine } from './engine-node.ts';
import { createGate } from './gate.ts';
import { openSharedStore, type SharedStore, type View } from './shared-store.ts';

/** A node with its engine, and another that only writes. */
let shared: SharedStore;
let store: View;
let here: EngineNode;
let there: Owner;
let reads: number;
let answered: () => Promise<void>;

async function start(listens = true): Promise<void> {
  shared = openSharedStore();
  answered = async () => {};
  store = shared.view('here', { listens, answered: () => answered() });
  reads = 0;
  const snapshot: View['snapshot'] = (ask) => {
    reads += 1;
    return store.snapshot(ask);
  };
  here = await startEngine({ ...store, snapshot }, { pool: new ScriptedPool(0) });
  there = new Owner(shared.view('there', { listens: false }), 'ann');
}

beforeEach(() => start());
afterEach(async () => {
  await here.stop();
  await shared.base.close();
});

describe('What is written at another node', () => {
  test('is told to a reader here as if it were written here', async () => {
    const reader = await openReader(here, LOG, { from: '0' });

    const task = await there.start();
    await there.append(task, noteEvents(task.id, 3));
    await reader.until(() => reader.seqs().length === 5);

    expect(reader.frames()).toBe(await storedFrames(store, LOG, 0));
  });

  test('is read once for all who read the same log', async () => {
    await there.create();
    const readers = await Promise.all(Array.from({ length: 20 }, () => openReader(here, LOG, { from: '0' })));
    await there.create();
    await Promise.all(readers.map((reader) => reader.until(() => reader.seqs().length === 2)));
    reads = 0;

    await there.create();
    await Promise.all(readers.map((reader) => reader.until(() => reader.seqs().length === 3)));

    expect(reads).toBe(1);
    for (const reader of readers) expect(reader.frames()).toBe(await storedFrames(store, LOG, 0));
  });

  test('is told in its place between what is written here', async () => {
    const reader = await openReader(here, LOG, { from: '0' });

    for (let n = 0; n < 20; n++) await Promise.all([here.ann.create(), there.create(), there.create()]);
    await reader.until(() => reader.seqs().length === 60);
    await allDone();

    expect(reader.seqs()).toEqual(Array.from({ length: 60 }, (_, n) => n + 1));
    expect(reader.frames()).toBe(await storedFrames(store, LOG, 0));
  });

  test('is told once, though a commit of this node is heard of after it was read', async () => {
    const reader = await openReader(here, LOG, { from: '0' });
    await here.ann.create();
    const gate = createGate();
    answered = gate.wait;

    const own = here.ann.create();
    await there.create();
    await reader.until(() => reader.seqs().length === 3);
    gate.letOne();
    await own;
    await allDone();

    expect(reader.seqs()).toEqual([1, 2, 3]);
    expect(here.hub.head('ann')).toBe(3);
  });

  test('is told though it is more than is read for all at once', async () => {
    const task = await there.start();
    const reader = await openReader(here, await subjectOf(store, task.id), { from: '0' });
    await here.ann.create();

    await there.append(task, noteEvents(task.id, 3000));
    await reader.until(() => reader.seqs().length === 3002);

    expect(reader.frames()).toBe(await storedFrames(store, await subjectOf(store, task.id), 0));
  });

  test('ends the stream of a task that is deleted with its conversation', async () => {
    const { id } = await there.open();
    const turn = await there.post(id, 'Hello.');
    const reader = await openReader(here, await subjectOf(store, turn.id));
    await here.ann.create();
    await reader.until(() => reader.signals.length > 0);

    await there.remove(id);
    await reader.until(() => reader.signals.length > 1);

    expect(reader.signals.map(({ kind }) => kind)).toEqual(['caught-up', 'end']);
  });
});

describe('Without a word from the other node', () => {
  beforeEach(async () => {
    await here.stop();
    await start(false);
  });

  test('a commit here shows that something is missing before it', async () => {
    const readers = await Promise.all(Array.from({ length: 20 }, () => openReader(here, LOG, { from: '0' })));
    await here.ann.create();
    await Promise.all(readers.map((reader) => reader.until(() => reader.seqs().length === 1)));
    reads = 0;

    await there.create();
    await here.ann.create();
    await allDone();

    expect(reads).toBe(1);
    for (const reader of readers) expect(reader.frames()).toBe(await storedFrames(store, LOG, 0));
  });

  test('a look from time to time finds what is new', async () => {
    const reader = await openReader(here, LOG, { from: '0' });
    await here.ann.create();

    await there.create();
    await reader.until(() => reader.seqs().length === 2);

    expect(reader.frames()).toBe(await storedFrames(store, LOG, 0));
  });
});
