import { expect, test } from 'vitest';
import { acceptResolved, resolveRow } from '../../src/model/resolving.ts';
import { newRow } from '../../src/model/row.ts';
import { givenCancelledTask, givenRunningTask, givenWaitingTask, TASK } from './given.ts';
import { NOON } from './table.ts';

const at = { taskId: TASK, key: 'charge' };
const step = newRow(at, { kind: 'step', askedAt: 3, once: true });
const done = { status: 'done', value: '"paid"' } as const;

test('gives a row the next place, after the events so far', () => {
  const task = { ...givenRunningTask().task(TASK), ord: 4, emits: 7 };

  const resolved = resolveRow(task, { ...step, message: { id: 'msg_a', afterSeq: 1 }, tries: 1 }, done, NOON + 5);

  expect(resolved.row).toEqual({
    ...{ ...at, kind: 'step', ...done, askedAt: 3, ord: 5, emitsDone: 7, at: NOON + 5 },
    ...{ tries: 1, once: true, dueAt: null, message: null },
  });
  expect(resolved.task).toEqual({ ...task, ord: 5 });
  expect(resolved.events).toEqual([]);
});

test('tells the copy of a step only that it is resolved, since it has the value', () => {
  const { resolution } = resolveRow(givenRunningTask().task(TASK), step, done, NOON);

  expect(resolution).toEqual({ ...at, status: 'done', value: null, ord: 1, emitsDone: 0, at: NOON });
});

test('tells the copy what came of any other row', () => {
  const asleep = newRow(at, { kind: 'sleep', askedAt: 0, dueAt: NOON });

  const { resolution, row } = resolveRow(givenRunningTask().task(TASK), asleep, { ...done, value: 'null' }, NOON);

  expect(resolution.value).toBe('null');
  expect(row.dueAt).toBeNull();
});

test('wakes a task that waits, whatever it waits for', () => {
  const waiting = { ...givenWaitingTask().task(TASK), crashes: 2 };

  const { task, events } = resolveRow(waiting, step, done, NOON);

  expect(task).toMatchObject({ status: 'queued', ord: 1, crashes: 0 });
  expect(events.map(({ type }) => type)).toEqual(['task.resumed']);
});

test('keeps the place of a spawn that was reopened', () => {
  const task = { ...givenRunningTask().task(TASK), ord: 9, emits: 7 };
  const spawn = { ...newRow(at, { kind: 'spawn', askedAt: 0 }), ord: 2, emitsDone: 1, at: NOON };

  const resolved = resolveRow(task, spawn, done, NOON + 5);

  expect(resolved.row).toMatchObject({ status: 'done', ord: 2, emitsDone: 1, at: NOON });
  expect(resolved.resolution).toMatchObject({ ord: 2, emitsDone: 1, at: NOON });
  expect(resolved.task.ord).toBe(9);
});

test('never resolves a row twice', () => {
  const task = givenRunningTask().task(TASK);
  const { row } = resolveRow(task, step, done, NOON);

  expect(() => resolveRow(task, row, done, NOON)).toThrow(`charge of ${TASK} is done already.`);
});

test('never resolves a row of a task that has ended', () => {
  const task = givenCancelledTask().task(TASK);

  expect(() => resolveRow(task, step, done, NOON)).toThrow(
    `charge of ${TASK} can come to nothing: the task is cancelled.`,
  );
});

test('is all that some verbs do', () => {
  const resolved = resolveRow(givenWaitingTask().task(TASK), step, done, NOON);

  const decision = acceptResolved(resolved);

  expect(decision).toEqual({
    changes: { tasks: [resolved.task], rows: [resolved.row] },
    events: resolved.events,
    resolutions: [resolved.resolution],
    outcome: { ok: true, result: null, replayed: false },
  });
});
