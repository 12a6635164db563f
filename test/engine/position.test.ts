import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cursorAt, freshPosition, isExpired, type Subject, taskSubject } from '../../src/engine/position.ts';
import type { LogState } from '../../src/store/store.ts';
import { LOG, openPublishedStore, type PublishedStore, startAt, subjectOf } from './published-store.ts';

let engine: PublishedStore;
let epoch: string;
beforeEach(() => {
  engine = openPublishedStore();
  epoch = engine.store.epoch;
});
afterEach(() => engine.store.close());

function start(subject: Subject, text: string | null) {
  return startAt(engine.store, subject, text);
}

describe('§5.2 where a reader of everything begins', () => {
  test.each([null, '0', 'latest'])('is the beginning of a log that has nothing yet, for %j', async (text) => {
    expect(await start(LOG, text)).toEqual({ kind: 'at', position: { seq: 0, until: null } });
    expect(cursorAt(await engine.store.log('ann'), { seq: 0, until: null })).toBe('0');
  });

  test('is the head when nothing is unfinished and no place is named', async () => {
    await engine.ann.finish(await engine.ann.start());

    expect(await start(LOG, null)).toEqual({ kind: 'at', position: { seq: 3, until: null } });
  });

  test('is before the oldest unfinished task, until the head, when no place is named', async () => {
    await engine.ann.finish(await engine.ann.start());
    await engine.ann.start();
    await engine.ann.start();

    expect(await start(LOG, null)).toEqual({ kind: 'at', position: { seq: 3, until: 7 } });
  });

  test('is a place in the retelling, and behind it a plain one', async () => {
    await engine.ann.start();
    await engine.ann.start();

    expect(await start(LOG, `${epoch}.1.4`)).toEqual({ kind: 'at', position: { seq: 1, until: 4 } });
    expect(await start(LOG, `${epoch}.4.4`)).toEqual({ kind: 'at', position: { seq: 4, until: null } });
  });

  test('is found anew when the cursor is unknown or ahead', async () => {
    await engine.ann.start();

    const position = { seq: 0, until: 2 };
    expect(await start(LOG, 'zzzzzzzz.1')).toEqual({ kind: 'reset', reason: 'unknown', position });
    expect(await start(LOG, `${epoch}.3`)).toEqual({ kind: 'reset', reason: 'ahead', position });
    expect(await start(LOG, `${epoch}.1.3`)).toEqual({ kind: 'reset', reason: 'ahead', position });
    expect(await start(LOG, `${epoch}.2.1`)).toEqual({ kind: 'reset', reason: 'ahead', position });
  });
});

describe('§5.2 where a reader of a task begins', () => {
  test('is before its first event, or at the head for `latest`', async () => {
    await engine.ann.start();
    const task = await engine.ann.start();
    await engine.ann.append(task);
    const subject = await subjectOf(engine.store, task.id);

    expect(await start(subject, null)).toEqual({ kind: 'at', position: { seq: 2, until: null } });
    expect(await start(subject, '0')).toEqual({ kind: 'at', position: { seq: 2, until: null } });
    expect(await start(subject, 'latest')).toEqual({ kind: 'at', position: { seq: 5, until: null } });
    expect(await start(subject, `${epoch}.3.5`)).toEqual({ kind: 'at', position: { seq: 3, until: null } });
  });

  test('is over at and after its last event, once it has ended (§5.4)', async () => {
    const task = await engine.ann.start();
    const before = await start(await subjectOf(engine.store, task.id), `${epoch}.2`);
    await engine.ann.finish(task);
    await engine.ann.start();
    const subject = await subjectOf(engine.store, task.id);

    expect(before.kind).toBe('at');
    expect((await start(subject, `${epoch}.2`)).kind).toBe('at');
    expect((await start(subject, `${epoch}.3`)).kind).toBe('over');
    expect((await start(subject, `${epoch}.5`)).kind).toBe('over');
    expect(await start(subject, `${epoch}.6`)).toMatchObject({ kind: 'reset', reason: 'ahead' });
    expect((await start(subject, '0')).kind).toBe('at');
    expect((await start(subject, 'latest')).kind).toBe('at');
  });

  test('is the tree of a root, and only itself for a child', async () => {
    const task = await engine.ann.start();

    expect(taskSubject(task).scope).toEqual({ kind: 'root', taskId: task.id });
    expect(taskSubject({ ...task, parentId: 'task_p', rootId: 'task_r' }).scope).toEqual({
      kind: 'child',
      taskId: task.id,
      rootId: 'task_r',
    });
  });
});

describe('§5.3 a mark', () => {
  test('makes a plain place below it expired, and a place in a retelling only if its `until` is', () => {
    const log = { head: 9, prunedSeq: 5, epochs: [] };

    expect(isExpired(LOG, log, { seq: 4, until: null })).toBe(true);
    expect(isExpired(LOG, log, { seq: 5, until: null })).toBe(false);
    expect(isExpired(LOG, log, { seq: 0, until: 4 })).toBe(true);
    expect(isExpired(LOG, log, { seq: 0, until: 5 })).toBe(false);
  });

  test('of a task is its own', async () => {
    const task = await engine.ann.start();
    const log = { head: 9, prunedSeq: 5, epochs: [] };

    expect(isExpired(taskSubject(task), log, { seq: 0, until: null })).toBe(false);
    expect(isExpired(taskSubject({ ...task, prunedSeq: 2 }), log, { seq: 1, until: null })).toBe(true);
    expect(isExpired(taskSubject({ ...task, prunedSeq: 2 }), log, { seq: 2, until: null })).toBe(false);
  });
});

describe('§5.2 a cursor (decision 001)', () => {
  const log: LogState = {
    head: 20,
    prunedSeq: 0,
    epochs: [
      { epoch: 'aaaaaaaa', firstSeq: 1 },
      { epoch: 'bbbbbbbb', firstSeq: 8 },
    ],
  };

  test.each([
    [0, null, 'aaaaaaaa.0'],
    [7, null, 'aaaaaaaa.7'],
    [8, null, 'bbbbbbbb.8'],
    [20, null, 'bbbbbbbb.20'],
    [3, 7, 'aaaaaaaa.3.7'],
    [3, 8, 'bbbbbbbb.3.8'],
  ])('for place %i of a retelling until %j is %s: its epoch is that of `until`', (seq, until, cursor) => {
    expect(cursorAt(log, { seq, until })).toBe(cursor);
  });

  test('is never minted with the running epoch as long as nothing was written under it', async () => {
    const { store, ann } = engine;
    await ann.start();

    const log = { ...(await store.log('ann')), head: 2 };
    expect(cursorAt(log, (await freshPosition(store, 'ann', LOG)).position)).toBe(`${epoch}.0.2`);
  });
});
