import { expect, test } from 'vitest';
import { taskError } from '../../../src/model/task-error.ts';
import {
  answer,
  dataOf,
  givenCancelledTask,
  givenQueuedTask,
  givenRunningTask,
  givenWaitingTask,
  lease,
  MINUTE,
  TASK,
  typesOf,
} from '../given.ts';
import { Table } from '../table.ts';

const error = taskError('agent_error', 'no flights');
const fail = { verb: 'failTask', args: { ...lease(), error, when: 'now' } } as const;
const timeOut = {
  verb: 'failTask',
  args: { ...lease(), error: taskError('timeout', 'late'), when: 'deadline' },
} as const;

test('fails a running task with its error', () => {
  const table = givenRunningTask();

  const { outcome, events } = table.run(fail);

  expect(outcome).toMatchObject({ ok: true, result: { task: table.task(TASK) } });
  expect(dataOf(events)).toEqual([['task.failed', { error }]]);
  expect(table.task(TASK)).toMatchObject({ status: 'failed', error, output: null });
});

test('fails a waiting task whose worker died, and closes its question', () => {
  const table = givenWaitingTask();

  const { events } = table.run(fail);

  expect(typesOf(events)).toEqual(['question.cancelled', 'task.failed']);
});

test('[T9] fails a task whose running time is used up', () => {
  const table = givenRunningTask({ timeoutMs: MINUTE });
  table.now += MINUTE;

  const { outcome } = table.run(timeOut);

  expect(outcome).toMatchObject({ ok: true, result: { task: { error: { code: 'timeout' }, ranMs: MINUTE } } });
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

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
});

test('leaves a task alone that was claimed again', () => {
  const table = givenWaitingTask();
  table.run(answer('june'));
  table.run({ verb: 'claimTask', args: { taskId: TASK, version: '1' } });

  const { outcome } = table.run(fail);

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
});

test.each([
  ['a cancelled task', givenCancelledTask(), 1],
  ['a queued task that the worker never had', givenQueuedTask(), 1],
  ['an unknown task', new Table(), 1],
])('leaves %s alone', (_what, table, fence) => {
  const before = table.records();

  const { outcome } = table.run({ verb: 'failTask', args: { ...fail.args, fence } });

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
  expect(table.records()).toEqual(before);
});
