import { expect, test } from 'vitest';
import {
  answer,
  claim,
  createArgs,
  dataOf,
  givenCancelledTask,
  givenQueuedTask,
  givenRunningTask,
  givenWaitingTask,
  MINUTE,
  TASK,
} from '../given.ts';
import { NOON, Table } from '../table.ts';

const claimB = { verb: 'claimTask', args: { taskId: 'task_b', version: '1' } } as const;

test('begins the first attempt under a new fence', () => {
  const table = givenQueuedTask({ timeoutMs: MINUTE });

  const { outcome, events } = table.run({ verb: 'claimTask', args: { taskId: TASK, version: '7' } });

  expect(outcome).toMatchObject({
    ok: true,
    result: { task: { status: 'running', fence: 1, attempt: 1, version: '7' } },
  });
  expect(dataOf(events)).toEqual([['task.started', { attempt: 1 }]]);
  expect(table.task(TASK)).toMatchObject({ startedAt: NOON, runningSince: NOON, deadlineAt: NOON + MINUTE });
});

test('goes on with the same attempt and version after a wait, under a higher fence and without an event', () => {
  const table = givenWaitingTask();
  table.run(answer('june'));
  table.now += MINUTE;

  const { outcome, events } = table.run({ verb: 'claimTask', args: { taskId: TASK, version: '2' } });

  expect(outcome).toMatchObject({
    ok: true,
    result: { task: { fence: 2, attempt: 1, version: '1', startedAt: NOON } },
  });
  expect(events).toEqual([]);
});

test('[T9] gives a task that waited only the running time that it has left', () => {
  const table = givenWaitingTask({ timeoutMs: null });
  table.now += 60 * MINUTE;
  table.run(answer('june'));

  table.run(claim);

  expect(table.task(TASK)).toMatchObject({ ranMs: 0, deadlineAt: table.now + 30 * MINUTE });
});

test.each([
  ['running', givenRunningTask()],
  ['waiting', givenWaitingTask()],
  ['cancelled', givenCancelledTask()],
  ['unknown', new Table()],
])('leaves a %s task alone', (_status, table) => {
  const before = table.records();

  const { outcome } = table.run(claim);

  expect(outcome).toMatchObject({ ok: false, code: 'not_claimable' });
  expect(table.records()).toEqual(before);
});

test('runs one task of a lane at a time', () => {
  const table = givenRunningTask({ concurrencyKey: 'ann' });
  givenQueuedTask({ taskId: 'task_b', concurrencyKey: 'ann' }, table);

  const { outcome } = table.run(claimB);

  expect(outcome).toMatchObject({ ok: false, code: 'not_claimable' });
  expect(table.task('task_b').status).toBe('queued');
});

test('claims the first of a lane and refuses the second in one batch', () => {
  const table = givenQueuedTask({ concurrencyKey: 'ann' });
  givenQueuedTask({ taskId: 'task_b', concurrencyKey: 'ann' }, table);

  const { outcomes } = table.commit([claim, claimB]);

  expect(outcomes).toMatchObject([{ ok: true }, { ok: false, code: 'not_claimable' }]);
});

test('runs tasks of different lanes side by side', () => {
  const table = givenRunningTask({ concurrencyKey: 'ann' });
  givenQueuedTask({ taskId: 'task_b', concurrencyKey: 'bob' }, table);

  const { outcome } = table.run(claimB);

  expect(outcome.ok).toBe(true);
});

test('frees the lane while its task waits', () => {
  const table = givenRunningTask({ concurrencyKey: 'ann' });
  givenQueuedTask({ taskId: 'task_b', concurrencyKey: 'ann' }, table);
  table.run({ verb: 'startTimer', args: { taskId: TASK, fence: 1, key: 'nap', ms: MINUTE } });
  table.run({ verb: 'waitTask', args: { taskId: TASK, fence: 1, keys: ['nap'] } });

  const { outcome } = table.run(claimB);

  expect(outcome.ok).toBe(true);
});

test('takes the lane of a task that is new in the batch for busy, since nobody has looked', () => {
  const table = givenRunningTask({ concurrencyKey: 'ann' });

  const { outcomes } = table.commit([
    { verb: 'createTask', args: createArgs({ taskId: 'task_b', concurrencyKey: 'ann' }) },
    claimB,
  ]);

  expect(outcomes).toMatchObject([{ ok: true }, { ok: false, code: 'not_claimable' }]);
});
