import { expect, test } from 'vitest';
import { type TaskErrorCode, taskError } from '../../../src/model/task-error.ts';
import {
  answer,
  begin,
  claim,
  cutAt,
  dataOf,
  fail,
  failure,
  givenCancelledTask,
  givenQuestion,
  givenQueuedTask,
  givenRunningTask,
  givenWaitingTask,
  lease,
  MINUTE,
  QUESTION,
  settle,
  TASK,
  typesOf,
} from '../given.ts';
import { NOON, Table } from '../table.ts';

const error = taskError('agent_error', 'no flights');
const timeOut = fail({ error: taskError('timeout', 'late'), when: 'deadline' });

test('fails a running task with its error', () => {
  const table = givenRunningTask();

  const { outcome, events } = table.run(fail());

  expect(outcome).toMatchObject({ ok: true, result: { task: table.task(TASK) } });
  expect(dataOf(events)).toEqual([['task.failed', { error }]]);
  expect(table.task(TASK)).toMatchObject({ status: 'failed', error, output: null });
});

test('closes the questions of a task that has failed', () => {
  const { events } = givenQuestion().run(fail());

  expect(typesOf(events)).toEqual(['question.cancelled', 'task.failed']);
});

test('[T9] fails a task whose running time is used up, and which a worker still holds', () => {
  const table = givenRunningTask({ timeoutMs: MINUTE });
  table.now += MINUTE;

  const { outcome } = table.run(timeOut);

  const task = { status: 'failed', error: { code: 'timeout' }, ranMs: MINUTE, held: true };
  expect(outcome).toMatchObject({ ok: true, result: { task } });
});

test('leaves a task alone that has time left', () => {
  const table = givenRunningTask({ timeoutMs: MINUTE });
  table.now += MINUTE - 1;
  const before = table.records();

  const { outcome } = table.run(timeOut);

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
  expect(table.records()).toEqual(before);
});

test('has no deadline for a task that waits for people', () => {
  const table = givenWaitingTask();
  table.now += 1000 * MINUTE;

  const { outcome } = table.run(timeOut);

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
});

test('leaves a task alone that was claimed again', () => {
  const table = givenWaitingTask();
  table.run(answer('june'));
  table.run(claim);

  const { outcome } = table.run(fail());

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
});

test.each([
  ['a cancelled task', givenCancelledTask(), 1],
  ['a queued task that the worker never had', givenQueuedTask(), 1],
  ['an unknown task', new Table(), 1],
])('leaves %s alone', (_what, table, fence) => {
  const before = table.records();

  const { outcome } = table.run(fail({ fence }));

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
  expect(table.records()).toEqual(before);
});

test('fails a task that waits by what its code has left behind, and closes its questions', () => {
  const table = givenWaitingTask();

  const { events } = table.run(fail());

  expect(typesOf(events)).toEqual(['question.cancelled', 'task.failed']);
  expect(table.task(TASK)).toMatchObject({ status: 'failed', error, held: false });
});

test.each([1, 2])('leaves a task held whose code may still run, with %i attempts in all', (maxAttempts) => {
  const table = givenRunningTask({ maxAttempts });

  table.run(fail({ when: 'cut' }));

  expect(table.task(TASK)).toMatchObject({ status: maxAttempts === 1 ? 'failed' : 'queued', held: true });
});

test('queues a task for another attempt, and tells it', () => {
  const table = givenRunningTask({ maxAttempts: 2 });
  table.now += MINUTE;

  const { outcome, events, dueAt } = table.run(fail({ jitter: 0.5 }));

  expect(outcome).toMatchObject({ ok: true, result: { task: table.task(TASK) } });
  const retryAt = '2026-01-01T12:01:00.500Z';
  expect(dataOf(events)).toEqual([['task.retrying', { attempt: 1, error, retryAt }]]);
  expect(table.task(TASK)).toMatchObject({
    ...{ status: 'queued', failures: 1, attempt: 1, begins: true, ranMs: 0, runAt: table.now + 500, held: false },
    ...{ error: null, cut: null, finishedAt: null, deadlineAt: null },
  });
  expect(dueAt).toBe(table.now + 500);
});

test.each([
  [0, 1000],
  [1, 2000],
  [5, 32_000],
  [6, 60_000],
  [2000, 60_000],
])('waits the longer the more attempts have failed: after %i others up to %i ms', (failures, longest) => {
  const table = givenRunningTask({ maxAttempts: 10_000 });
  table.tasks.set(TASK, { ...table.task(TASK), failures });

  table.run(fail({ jitter: 1 }));

  expect(table.task(TASK).runAt).toBe(NOON + longest);
});

test('is ready at once when it need not wait', () => {
  const table = givenRunningTask({ maxAttempts: 2 });

  const { events } = table.run(fail({ jitter: 0 }));

  expect(table.task(TASK).runAt).toBeNull();
  expect(dataOf(events)).toMatchObject([['task.retrying', { retryAt: '2026-01-01T12:00:00.000Z' }]]);
});

test('fails for good when its attempts are used up, whatever was lost between', () => {
  const table = givenRunningTask({ maxAttempts: 2 });
  table.run({ verb: 'requeueTask', args: { ...lease(), cause: 'crashed' } });
  table.run(claim);
  table.run(fail({ fence: 2 }));
  table.run(claim);

  const { events } = table.run(fail({ fence: 3 }));

  expect(typesOf(events)).toEqual(['task.failed']);
  expect(table.task(TASK)).toMatchObject({ status: 'failed', attempt: 3, failures: 1 });
});

test.each<TaskErrorCode>([
  ...([
    'invalid_input',
    'invalid_output',
    'unknown_agent',
    'nondeterministic',
    'crash_loop',
    'limit_exceeded',
  ] as const),
])('never tries again what would end alike: %s', (code) => {
  const table = givenRunningTask({ maxAttempts: 2 });

  table.run(fail({ error: taskError(code, 'no') }));

  expect(table.task(TASK)).toMatchObject({ status: 'failed', error: { code } });
});

test.each<TaskErrorCode>(['agent_error', 'timeout', 'worker_exited', 'worker_unresponsive', 'out_of_memory'])(
  'tries again what may go better: %s',
  (code) => {
    const table = givenRunningTask({ maxAttempts: 2 });

    table.run(fail({ error: taskError(code, 'no') }));

    expect(table.task(TASK).status).toBe('queued');
  },
);

test('gives the next attempt all the time again, while a worker may still hold the one before', () => {
  const table = givenRunningTask({ maxAttempts: 2, timeoutMs: MINUTE });
  table.now += MINUTE;

  table.run(timeOut);

  expect(table.task(TASK)).toMatchObject({ status: 'queued', held: true, ranMs: 0 });
  table.commit([{ verb: 'releaseTask', args: lease() }, claim]);
  expect(table.task(TASK)).toMatchObject({ deadlineAt: table.now + MINUTE, fence: 2, attempt: 2 });
});

test('keeps the journal whole without a cut, and its questions pending', () => {
  const table = givenQuestion({}, givenRunningTask({ maxAttempts: 2 }));
  table.commit([begin(), settle({ outcome: failure() })]);
  const before = table.journal(TASK);

  table.run(fail());

  expect(table.journal(TASK)).toEqual(before);
  expect(table.question(QUESTION).resolution).toBeNull();
  expect(table.task(TASK)).toMatchObject({ ord: 1, pendingQuestionCount: 1 });
});

test('takes the journal back by the cut of its copy, after telling that it tries again', () => {
  const table = givenRunningTask({ maxAttempts: 2 });
  table.commit([begin(), settle({ outcome: failure() })]);
  givenQuestion({ askedAt: 1 }, table);

  const { events } = table.run(fail({ cut: cutAt({ keys: ['charge'] }) }));

  expect(typesOf(events)).toEqual(['task.retrying', 'question.cancelled']);
  expect(table.journal(TASK)).toEqual([]);
  expect(table.task(TASK)).toMatchObject({ status: 'queued', pendingQuestionCount: 0, ord: 0, cut: null });
});

test('leaves the journal as it is when the task has failed for good, and keeps the cut for a retry', () => {
  const table = givenRunningTask();
  table.commit([begin(), settle({ outcome: failure() })]);
  const before = table.journal(TASK);

  table.run(fail({ cut: cutAt({ keys: ['charge'] }) }));

  expect(table.journal(TASK)).toEqual(before);
  expect(table.task(TASK).cut).toEqual({ keys: ['charge'], askedAt: 0, ord: 1, emits: 0 });
});
