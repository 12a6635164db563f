import { expect, test } from 'vitest';
import { dataOf, finish, givenQuestion, givenRunningTask, givenWaitingTask, MINUTE, QUESTION, TASK } from '../given.ts';

test('completes a running task with its output', () => {
  const table = givenRunningTask();
  table.now += MINUTE;

  const { outcome, events } = table.run(finish);

  expect(outcome).toMatchObject({ ok: true, result: { task: table.task(TASK) } });
  expect(dataOf(events)).toEqual([['task.completed', { output: { booked: true } }]]);
  expect(table.task(TASK)).toMatchObject({
    ...{ status: 'completed', output: { booked: true }, error: null, ranMs: MINUTE },
    ...{ finishedAt: table.now, deadlineAt: null, runningSince: null },
  });
});

test('cancels the questions that nobody waits for any more, before the end', () => {
  const table = givenQuestion();

  const { events } = table.run(finish);

  expect(dataOf(events)).toEqual([
    ['question.cancelled', { questionId: QUESTION, reason: 'task_finished', resolvedBy: null }],
    ['task.completed', { output: { booked: true } }],
  ]);
  expect(table.task(TASK).pendingQuestionCount).toBe(0);
});

test('refuses a worker that has put the task to rest', () => {
  const table = givenWaitingTask();
  const before = table.records();

  const { outcome } = table.run(finish);

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
  expect(table.records()).toEqual(before);
});
