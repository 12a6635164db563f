import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { conversationSubject } from '../../src/engine/position.ts';
import { createSweeper, type Sweeper } from '../../src/engine/sweeper.ts';
import type { TaskRecord } from '../../src/model/task.ts';
import { noteEvents } from '../support/store-owner.ts';
import { LOG, openPublishedStore, openReader, type PublishedStore, startAt, subjectOf } from './published-store.ts';

const DAY_MS = 24 * 60 * 60_000;

function onFatal(error: unknown): never {
  throw error;
}

/** docs/protocol.md §5.3, pruning: a mark a stream, by a clock that only the test moves. */
describe('§5.3 pruning', () => {
  let now: number;
  let engine: PublishedStore;
  let sweeper: Sweeper;
  let epoch: string;
  beforeEach(() => {
    now = Date.UTC(2026, 10, 30);
    engine = openPublishedStore({ now: () => now });
    sweeper = createSweeper({ store: engine.store, retentionMs: 30 * DAY_MS, onFatal });
    epoch = engine.store.epoch;
  });
  afterEach(() => engine.store.close());

  async function start(taskId: string | null, text: string | null) {
    const subject = taskId === null ? LOG : await subjectOf(engine.store, taskId);
    return startAt(engine.store, subject, text);
  }

  async function marks(...tasks: TaskRecord[]): Promise<number[]> {
    const now = await Promise.all(tasks.map(({ id }) => engine.ann.task(id)));
    return now.map(({ prunedSeq }) => prunedSeq);
  }

  async function startFinished(notes = 1): Promise<TaskRecord> {
    const task = await engine.ann.start();
    await engine.ann.append(task, noteEvents(task.id, notes));
    return engine.ann.finish(task);
  }

  test('waits for the end of the retention time, and then takes the whole task', async () => {
    const { ann, log } = engine;
    const task = await startFinished(3);

    now += 30 * DAY_MS;
    await sweeper.tick(log);
    const kept = await ann.seqs();
    now += 60_000;
    await sweeper.tick(log);

    expect(kept).toHaveLength(6);
    expect(await ann.seqs()).toEqual([]);
    expect(await marks(task)).toEqual([6]);
  });

  test('sets the mark of the task and of the log, and none of another task', async () => {
    const { store, log } = engine;
    const old = await startFinished();
    now += 31 * DAY_MS;
    const young = await startFinished();

    await sweeper.tick(log);

    expect(await marks(old, young)).toEqual([4, 0]);
    expect(await store.log('ann')).toMatchObject({ head: 8, prunedSeq: 4 });
  });

  test('expires a plain cursor below the mark of its stream, and no other', async () => {
    const old = await startFinished();
    const open = await engine.ann.create();
    now += 31 * DAY_MS;
    await sweeper.tick(engine.log);

    expect(await start(old.id, `${epoch}.3`)).toMatchObject({ kind: 'reset', reason: 'expired' });
    expect((await start(old.id, `${epoch}.4`)).kind).toBe('over');
    expect(await start(open.id, `${epoch}.1`)).toMatchObject({ kind: 'at', position: { seq: 1 } });
    expect(await start(null, `${epoch}.3`)).toMatchObject({
      kind: 'reset',
      reason: 'expired',
      position: { seq: 4, until: 5 },
    });
    expect(await start(null, `${epoch}.4`)).toMatchObject({ kind: 'at', position: { seq: 4 } });
  });

  test('expires a retelling only if its `until` is below the mark', async () => {
    const open = await engine.ann.create();
    const old = await startFinished();
    now += 31 * DAY_MS;
    await sweeper.tick(engine.log);

    expect(await marks(open, old)).toEqual([0, 5]);
    expect(await start(null, `${epoch}.1.4`)).toMatchObject({ kind: 'reset', reason: 'expired' });
    expect(await start(null, `${epoch}.1.5`)).toMatchObject({ kind: 'at', position: { seq: 1, until: 5 } });
    expect(await start(null, null)).toEqual({ kind: 'at', position: { seq: 0, until: 5 } });
  });

  test('never expires `0`, which begins at the mark of the stream', async () => {
    const old = await startFinished();
    now += 31 * DAY_MS;
    const young = await startFinished();
    await sweeper.tick(engine.log);

    expect(await start(old.id, '0')).toEqual({ kind: 'at', position: { seq: 4, until: null } });
    expect(await start(young.id, '0')).toEqual({ kind: 'at', position: { seq: 4, until: null } });
    expect(await start(null, '0')).toEqual({ kind: 'at', position: { seq: 4, until: null } });
  });

  test('ends the stream of a pruned task with just its end, and its resumeAfter is then over', async () => {
    const old = await startFinished();
    now += 31 * DAY_MS;
    await sweeper.tick(engine.log);

    const reader = await openReader(engine, await subjectOf(engine.store, old.id), { from: `${epoch}.1` });

    const last = `${epoch}.4`;
    expect(reader.signals.filter(({ kind }) => kind !== 'caught-up')).toEqual([
      { kind: 'reset expired', cursor: last },
      { kind: 'end', cursor: last },
    ]);
    expect(reader.seqs()).toEqual([]);
    expect((await start(old.id, last)).kind).toBe('over');
  });

  test('expires a cursor below the mark of its conversation, and none of another conversation', async () => {
    const { ann, store, log } = engine;
    const [one, two] = [await ann.open(), await ann.open()];
    const old = await ann.finish(await ann.claim((await ann.post(one.id, 'a')).id));
    now += 31 * DAY_MS;
    const open = await ann.post(one.id, 'b');
    await ann.post(two.id, 'c');
    await sweeper.tick(log);
    const at = async (id: string, text: string | null) =>
      startAt(store, conversationSubject(await ann.conversation(id)), text);

    expect(old.lastSeq).toBe(7);
    expect(await at(one.id, `${epoch}.6`)).toMatchObject({
      kind: 'reset',
      reason: 'expired',
      position: { seq: 7, until: 11 },
    });
    expect(await at(one.id, `${epoch}.2.6`)).toMatchObject({ kind: 'reset', reason: 'expired' });
    expect(await at(one.id, `${epoch}.7`)).toMatchObject({ kind: 'at', position: { seq: 7 } });
    expect(await at(one.id, `${epoch}.2.7`)).toMatchObject({ kind: 'at', position: { seq: 2, until: 7 } });
    expect(await at(one.id, '0')).toEqual({ kind: 'at', position: { seq: 7, until: null } });
    expect(await at(one.id, null)).toEqual({ kind: 'at', position: { seq: open.firstSeq - 1, until: 11 } });
    expect(await at(two.id, `${epoch}.3`)).toMatchObject({ kind: 'at', position: { seq: 3 } });
    expect(await at(two.id, '0')).toEqual({ kind: 'at', position: { seq: 0, until: null } });
  });

  test('tells a reader of a conversation that is behind of the hole that it has made', async () => {
    const { ann, store, log } = engine;
    const { id } = await ann.open();
    const old = await ann.claim((await ann.post(id, 'a')).id);
    await ann.append(old, noteEvents(old.id, 300));
    const reader = await openReader(engine, conversationSubject(await ann.conversation(id)), { from: '0', full: true });
    await ann.finish(old);
    now += 31 * DAY_MS;
    const open = await ann.post(id, 'b');
    await sweeper.tick(log);

    reader.full = false;
    reader.tail.resume();
    await reader.until(() => reader.signals.some(({ kind }) => kind === 'caught-up'));
    reader.tail.close();

    const { head } = await store.log('ann');
    expect(reader.signals).toEqual([
      { kind: 'reset expired', cursor: `${epoch}.${open.firstSeq - 1}.${head}` },
      { kind: 'caught-up', cursor: `${epoch}.${head}` },
    ]);
    expect(reader.seqs().slice(200)).toEqual([open.firstSeq, open.firstSeq + 1]);
  });

  test('takes what a deleted conversation has left, a slice a turn, and comes back until nothing is left', async () => {
    const { ann, store, log } = engine;
    const { id } = await ann.open();
    const task = await ann.claim((await ann.post(id, 'a')).id);
    for (let i = 0; i < 4; i++) await ann.append(task, noteEvents(task.id, 400));
    await ann.finish(task);
    await ann.remove(id);

    let turns = 0;
    while ((await store.purgeable(1)).length > 0) {
      await sweeper.tick(log);
      turns++;
    }

    expect(turns).toBeGreaterThan(3);
    expect((await ann.read()).events.map(({ type }) => type)).toEqual(['conversation.deleted']);
  });

  test('takes nothing of unfinished tasks, and one forgotten question pins nobody else', async () => {
    const { ann, log } = engine;
    const asking = await ann.start();
    await ann.ask(asking, 'go');
    await ann.wait(asking, ['go']);
    const others = [await startFinished(), await startFinished()];
    now += 400 * DAY_MS;

    await sweeper.tick(log);

    expect(await marks(asking, ...others)).toEqual([0, 8, 12]);
    expect(await ann.seqs()).toEqual([1, 2, 3, 4]);
    const reader = await openReader(engine, await subjectOf(engine.store, asking.id));
    expect(reader.seqs()).toEqual([1, 2, 3, 4]);
  });

  test('keeps everything where no retention is set', async () => {
    const keeping = createSweeper({ store: engine.store, retentionMs: null, onFatal });
    await startFinished();
    now += 36_500 * DAY_MS;

    await keeping.tick(engine.log);

    expect(await engine.ann.seqs()).toEqual([1, 2, 3, 4]);
  });

  test('refuses a task that is unfinished, too young, or pruned already', async () => {
    const { ann } = engine;
    const open = await ann.start();
    const old = await startFinished();

    const refused = [await ann.prune(open.id), await ann.prune(old.id, 1)];
    const pruned = await ann.prune(old.id);
    const again = await ann.prune(old.id);

    expect(refused).toEqual([
      expect.objectContaining({ code: 'not_due' }),
      expect.objectContaining({ code: 'not_due' }),
    ]);
    expect(pruned?.ok).toBe(true);
    expect(again).toMatchObject({ ok: false, code: 'not_due' });
  });
});
