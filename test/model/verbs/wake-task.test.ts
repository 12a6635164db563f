import { expect, test } from 'vitest';
import { answer, givenCancelledTask, givenRunningTask, givenWaitingTask, lease, TASK, typesOf } from '../given.ts';
import { Table } from '../table.ts';

const wake = { verb: 'wakeTask', args: lease() } as const;

test('queues a waiting task whose copy has found work by itself', () => {
  const table = givenWaitingTask();

  const { outcome, events } = table.run(wake);

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(typesOf(events)).toEqual(['task.resumed']);
  expect(table.task(TASK)).toMatchObject({ status: 'queued', pendingQuestionCount: 1 });
});

test('finds done what an answer has done', () => {
  const table = givenWaitingTask();
  table.run(answer('june'));
  const before = table.records();

  const { outcome } = table.run(wake);

  expect(outcome.ok).toBe(true);
  expect(table.records()).toEqual(before);
});

test.each([
  ['a running task', givenRunningTask(), 1],
  ['a cancelled task', givenCancelledTask(), 1],
  ['a task claimed under another fence', givenWaitingTask(), 0],
  ['an unknown task', new Table(), 1],
])('leaves %s alone', (_what, table, fence) => {
  const before = table.records();

  const { outcome } = table.run({ verb: 'wakeTask', args: lease({ fence }) });

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
  expect(table.records()).toEqual(before);
});
