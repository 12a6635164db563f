import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cursorAt } from '../../src/engine/position.ts';
import { newDirectory } from '../support/store-directory.ts';
import { noteEvents } from '../support/store-owner.ts';
import {
  LOG,
  openPublishedStore,
  openReader,
  type PublishedStore,
  storedFrames,
  subjectOf,
} from './published-store.ts';

const HOUR_MS = 60 * 60_000;

let engine: PublishedStore;
let now: number;

beforeEach(() => {
  now = Date.UTC(2026, 10, 30, 12);
  engine = openPublishedStore({ dir: newDirectory(), now: () => now });
});
afterEach(() => engine.store.close());

/** The clock of the machine was wrong, and is set right. */
function setBack(): void {
  now -= HOUR_MS;
}

async function cursorOf(seq: number): Promise<string> {
  return cursorAt(await engine.store.log('ann'), { seq, until: null });
}

describe('When the clock goes back', () => {
  test('the seqs go on without a gap, in the order of the commits, while `at` falls', async () => {
    const { ann } = engine;
    const task = await ann.start();
    setBack();
    await ann.append(task, noteEvents(task.id, 2));
    setBack();
    await ann.finish(task);

    const { events } = await ann.read();

    const noon = Date.UTC(2026, 10, 30, 12);
    expect(events.map(({ seq, type, at }) => [seq, type, (at - noon) / HOUR_MS])).toEqual([
      [1, 'task.created', 0],
      [2, 'task.started', 0],
      [3, 'note.taken', -1],
      [4, 'note.taken', -1],
      [5, 'task.completed', -2],
    ]);
  });

  test('a stream goes on live, and its end is its last event though others are later by the clock', async () => {
    const { ann, store } = engine;
    const task = await ann.start();
    const reader = await openReader(engine, await subjectOf(store, task.id));

    setBack();
    await ann.append(task);
    await ann.finish(task);
    await reader.until(() => reader.signals.at(-1)?.kind === 'end');

    expect(reader.seqs()).toEqual([1, 2, 3, 4]);
    expect(reader.signals).toEqual([
      { kind: 'caught-up', cursor: await cursorOf(2) },
      { kind: 'end', cursor: await cursorOf(4) },
    ]);
  });

  test.each([0, 1, 2, 3, 4, 5, 6])(
    'a stream that is resumed after seq %i is told all that follows, each once',
    async (seq) => {
      const { ann, store } = engine;
      const task = await ann.start();
      await ann.append(task);
      setBack();
      await ann.append(task);
      const other = await ann.start();
      const reader = await openReader(engine, LOG, { from: seq === 0 ? '0' : await cursorOf(seq) });

      setBack();
      await ann.append(other);
      await ann.finish(task);
      await reader.until(() => reader.seqs().at(-1) === 8);

      expect(reader.frames()).toBe(await storedFrames(store, LOG, seq));
      expect(reader.signals).toEqual([{ kind: 'caught-up', cursor: await cursorOf(6) }]);
    },
  );

  test('a retelling tells what is unfinished in the order of the log, and nothing of what has ended', async () => {
    const { ann } = engine;
    const open = await ann.start();
    const ended = await ann.start();
    setBack();
    await ann.finish(ended);
    await ann.append(open);

    const reader = await openReader(engine, LOG);
    await reader.until(() => reader.signals.length > 0);

    expect(reader.seqs()).toEqual([1, 2, 6]);
  });

  test('a task is queued, runs, waits, wakes and ends as ever, and no time that it ran is less than nothing', async () => {
    const { ann, store } = engine;
    const created = await ann.create();
    setBack();
    const first = await ann.claim(created.id);
    const question = await ann.ask(first, 'month');
    setBack();
    await ann.wait(first, ['month']);
    setBack();
    const answered = await ann.answer(question.id);
    setBack();
    const second = await ann.claim(created.id);
    setBack();
    const ended = await ann.finish(second);

    expect(answered).toMatchObject({ ok: true });
    expect(second.ranMs).toBeGreaterThanOrEqual(0);
    expect(ended).toMatchObject({ status: 'completed', ranMs: expect.any(Number) });
    expect(ended.ranMs).toBeGreaterThanOrEqual(0);
    expect((await store.question('ann', question.id))?.resolution).toMatchObject({ status: 'answered' });
    expect((await ann.read()).events.map(({ type }) => type)).toEqual([
      ...['task.created', 'task.started', 'question.asked', 'task.waiting'],
      ...['question.answered', 'task.resumed', 'task.completed'],
    ]);
  });

  test('tasks are listed and claimed in the order of their creation', async () => {
    const { ann, store } = engine;
    const first = await ann.create();
    setBack();
    const second = await ann.create();

    const claimable = (await store.claimable(10)).map(({ taskId }) => taskId);
    const listed = await store.listTasks('ann', { order: 'desc', limit: 10 });

    expect(claimable).toEqual([first.id, second.id]);
    expect(listed.map(({ id }) => id)).toEqual([second.id, first.id]);
  });
});
