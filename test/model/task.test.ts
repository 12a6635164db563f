import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isTerminal,
  moveTask,
  TASK_STATUSES,
  type TaskRecord,
  type TaskStatus,
  taskSchema,
  toTask,
} from '../../src/model/task.ts';
import { claim, givenQueuedTask, givenRunningTask, givenWaitingTask, lease, MINUTE, TASK } from './given.ts';
import { NOON } from './table.ts';

const ARROWS: [TaskStatus, TaskStatus][] = [
  ['queued', 'running'],
  ['queued', 'failed'],
  ['queued', 'cancelled'],
  ['running', 'queued'],
  ['running', 'waiting'],
  ['running', 'completed'],
  ['running', 'failed'],
  ['running', 'cancelled'],
  ['waiting', 'queued'],
  ['waiting', 'failed'],
  ['waiting', 'cancelled'],
];
const PAIRS = TASK_STATUSES.flatMap((from) => TASK_STATUSES.map((to) => [from, to] as const));

test.each(ARROWS)('lets a %s task become %s', (from, to) => {
  const task = { ...givenQueuedTask().task(TASK), status: from };

  expect(moveTask(task, to, NOON).status).toBe(to);
});

test.each(PAIRS.filter(([from, to]) => !ARROWS.some(([a, b]) => a === from && b === to)))(
  'never lets a %s task become %s',
  (from, to) => {
    const task = { ...givenQueuedTask().task(TASK), status: from };

    expect(() => moveTask(task, to, NOON)).toThrow(`A ${from} task cannot become ${to}.`);
  },
);

test('takes the last three statuses for terminal', () => {
  expect(TASK_STATUSES.filter(isTerminal)).toEqual(['completed', 'failed', 'cancelled']);
});

test('[T9] counts only running, over any number of waits', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(MINUTE), fc.nat(MINUTE)), { maxLength: 8 }), (phases) => {
      let now = NOON;
      let task: TaskRecord = { ...givenQueuedTask().task(TASK), timeoutMs: 2 * MINUTE };
      for (const [runMs, restMs] of phases) {
        task = moveTask(task, 'running', now);
        const left = 2 * MINUTE - task.ranMs;
        expect(task.deadlineAt).toBe(now + Math.max(0, left));
        now += runMs;
        task = moveTask(task, 'waiting', now);
        now += restMs;
        task = moveTask(task, 'queued', now);
      }
      expect(task.ranMs).toBe(phases.reduce((sum, [runMs]) => sum + runMs, 0));
    }),
    { seed: 8, numRuns: 100 },
  );
});

test('never lets a clock that went back shorten the time that a task ran', () => {
  const running = moveTask({ ...givenQueuedTask().task(TASK), ranMs: 7 }, 'running', NOON);

  expect(moveTask(running, 'waiting', NOON - MINUTE).ranMs).toBe(7);
});

test('remembers when it was first begun', () => {
  const table = givenWaitingTask();
  table.run({ verb: 'wakeTask', args: lease() });
  table.now += MINUTE;

  table.run(claim);

  expect(table.task(TASK)).toMatchObject({ startedAt: NOON, runningSince: NOON + MINUTE });
});

test('[T3] shows clients a running task', () => {
  const task = toTask(givenRunningTask({ metadata: { from: 'web' } }).task(TASK), (seq) => `epoch001.${seq}`);

  expect(taskSchema.strict().parse(task)).toEqual(task);
  expect(task).toEqual({
    ...{ id: TASK, agent: 'trip-planner', status: 'running', conversationId: null, parentId: null, rootId: TASK },
    ...{ retryOf: null, input: { city: 'Lisbon' }, output: null, error: null, progress: null, attempt: 1 },
    ...{ pendingQuestionCount: 0, metadata: { from: 'web' }, priority: 0, concurrencyKey: null },
    ...{ timeoutMs: givenRunningTask().task(TASK).timeoutMs, maxAttempts: 1, runAt: null },
    ...{ createdAt: '2026-01-01T12:00:00.000Z', startedAt: '2026-01-01T12:00:00.000Z', finishedAt: null },
    cursor: { before: 'epoch001.0', last: 'epoch001.2' },
  });
});

test('shows clients when a task ended, and that it never began', () => {
  const table = givenQueuedTask();
  table.run({ verb: 'cancelTask', args: { taskId: TASK, reason: null } });

  const task = toTask(table.task(TASK), String);

  expect(task).toMatchObject({ startedAt: null, finishedAt: '2026-01-01T12:00:00.000Z' });
});

test('lets nothing be put off that goes on or ends', () => {
  const queued = { ...givenQueuedTask().task(TASK), runAt: NOON + MINUTE };

  expect(moveTask(queued, 'running', NOON).runAt).toBeNull();
  expect(moveTask(queued, 'cancelled', NOON).runAt).toBeNull();
});

test('shows clients which task it was retried from', () => {
  const task = toTask({ ...givenQueuedTask().task(TASK), retryOf: 'task_first' }, String);

  expect(task.retryOf).toBe('task_first');
});
