import { expect, test } from 'vitest';
import {
  askArgs,
  cancel,
  claim,
  dataOf,
  givenQuestion,
  givenQueuedTask,
  givenRunningTask,
  lease,
  TASK,
} from './given.ts';
import type { Table } from './table.ts';

const finish = { verb: 'finishTask', args: { ...lease(), output: 1 } } as const;

function endsOf(table: Table): [string, string][] {
  return table.told.filter(({ type }) => type === 'task.cancelled').map(({ taskId, data }) => [taskId, data]);
}

test('[Q7] cancels the unfinished children of a task that ends, deepest first, and the task last', () => {
  const table = givenRunningTask();
  table.putChild(TASK, 'task_b');
  table.putChild('task_b', 'task_grandchild');
  table.putChild(TASK, 'task_a_younger');

  const { events } = table.run(finish);

  expect(events.map(({ taskId, type }) => [taskId, type])).toEqual([
    ['task_grandchild', 'task.cancelled'],
    ['task_b', 'task.cancelled'],
    ['task_a_younger', 'task.cancelled'],
    [TASK, 'task.completed'],
  ]);
  expect(table.unfinishedChildren(TASK)).toEqual([]);
});

test('tells the children why', () => {
  const table = givenRunningTask();
  table.putChild(TASK, 'task_child');

  table.run(cancel);

  expect(endsOf(table)).toEqual([
    ['task_child', '{"reason":"parent_finished"}'],
    [TASK, '{"reason":"changed my mind"}'],
  ]);
});

test('[Q7] cancels the questions and timers of the children', () => {
  const table = givenRunningTask();
  table.putChild(TASK, 'task_child');
  table.run({ ...claim, args: { taskId: 'task_child', version: '1' } });
  const held = lease({ taskId: 'task_child' });
  givenQuestion({ ...held, questionId: 'qst_child' }, table);
  table.run({ verb: 'startTimer', args: { ...held, key: 'nap', ms: 1 } });

  const { events } = table.run(finish);

  expect(dataOf(events)).toEqual([
    ['question.cancelled', { questionId: 'qst_child', reason: 'cancelled', resolvedBy: null }],
    ['task.cancelled', { reason: 'parent_finished' }],
    ['task.completed', { output: 1 }],
  ]);
  expect(table.task('task_child')).toMatchObject({ status: 'cancelled', pendingQuestionCount: 0 });
  expect(table.openTimers('task_child')).toEqual([]);
});

test('leaves children alone that have ended before', () => {
  const table = givenRunningTask();
  table.putChild(TASK, 'task_child');
  table.run({ verb: 'cancelTask', args: { taskId: 'task_child', reason: null } });

  table.run(finish);

  expect(endsOf(table)).toEqual([['task_child', '{"reason":null}']]);
});

test('leaves the parent and the siblings of a cancelled child alone', () => {
  const table = givenRunningTask();
  table.putChild(TASK, 'task_b');
  table.putChild(TASK, 'task_c');

  table.run({ verb: 'cancelTask', args: { taskId: 'task_b', reason: null } });

  expect(table.task(TASK).status).toBe('running');
  expect(table.task('task_c').status).toBe('queued');
});

test('leaves the questions and timers of other tasks alone', () => {
  const table = givenRunningTask();
  givenRunningTask({ taskId: 'task_b' }, table);
  const held = lease({ taskId: 'task_b' });
  givenQuestion({ ...held, questionId: 'qst_b' }, table);
  table.run({ verb: 'startTimer', args: { ...held, key: 'nap', ms: 1 } });

  table.run(cancel);

  expect(table.question('qst_b').resolution).toBeNull();
  expect(table.openTimers('task_b')).toHaveLength(1);
});

test('cancels several questions in the order of the asking', () => {
  const table = givenQuestion({ questionId: 'qst_z' });
  table.now += 1;
  table.run({ verb: 'askQuestion', args: askArgs({ questionId: 'qst_y', key: 'b' }) });

  table.run(cancel);

  const cancelled = table.told.filter(({ type }) => type === 'question.cancelled');
  expect(dataOf(cancelled)).toMatchObject([
    [expect.anything(), { questionId: 'qst_z' }],
    [expect.anything(), { questionId: 'qst_y' }],
  ]);
});

test('ends the children in the order of their creation, whatever the batch has loaded first', () => {
  const table = givenQueuedTask();
  table.putChild(TASK, 'task_elder');
  table.putChild(TASK, 'task_younger');

  table.commit([{ verb: 'claimTask', args: { taskId: 'task_younger', version: '1' } }, cancel]);

  expect(endsOf(table).map(([taskId]) => taskId)).toEqual(['task_elder', 'task_younger', TASK]);
});
