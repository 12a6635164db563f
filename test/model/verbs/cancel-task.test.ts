import { expect, test } from 'vitest';
import {
  askArgs,
  cancel,
  dataOf,
  givenQuestion,
  givenQueuedTask,
  givenRunningTask,
  givenWaitingTask,
  lease,
  QUESTION,
  sleep,
  TASK,
} from '../given.ts';
import { Table } from '../table.ts';

test.each([
  ['queued', givenQueuedTask()],
  ['running', givenRunningTask()],
  ['waiting', givenWaitingTask()],
])('[Q7] cancels a %s task for good', (_status, table) => {
  const { outcome, events } = table.run(cancel);

  expect(outcome).toMatchObject({ ok: true, replayed: false, result: { task: { status: 'cancelled' } } });
  expect(dataOf(events).at(-1)).toEqual(['task.cancelled', { reason: 'changed my mind' }]);
});

test('[Q7] cancels its questions and sleeps at once', () => {
  const table = givenQuestion();
  table.run(sleep());

  const { events } = table.run(cancel);

  expect(dataOf(events)[0]).toEqual([
    'question.cancelled',
    { questionId: QUESTION, reason: 'cancelled', resolvedBy: null },
  ]);
  expect(table.question(QUESTION).resolution).toMatchObject({ status: 'cancelled', reason: 'cancelled' });
  expect(table.row(TASK, 'nap').dueAt).toBeNull();
});

test('cancels a question that was asked in the same batch', () => {
  const table = givenRunningTask();

  table.commit([{ verb: 'askQuestion', args: askArgs() }, cancel]);

  expect(table.question(QUESTION).resolution).toMatchObject({ status: 'cancelled' });
});

test('takes cancelling again for a repetition', () => {
  const table = givenRunningTask();
  table.run(cancel);
  const before = table.records();

  const { outcome } = table.run(cancel);

  expect(outcome).toMatchObject({ ok: true, replayed: true, result: { task: { status: 'cancelled' } } });
  expect(table.records()).toEqual(before);
});

test('refuses to cancel a completed task, and shows it', () => {
  const table = givenRunningTask();
  table.run({ verb: 'finishTask', args: { ...lease(), output: 'done' } });

  const { outcome } = table.run(cancel);

  expect(outcome).toMatchObject({ ok: false, code: 'task_finished', details: { task: table.task(TASK) } });
});

test('knows no task with another id', () => {
  const { outcome } = new Table().run(cancel);

  expect(outcome).toMatchObject({ ok: false, code: 'not_found' });
});
