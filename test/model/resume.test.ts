import { expect, test } from 'vitest';
import { resumed } from '../../src/model/resume.ts';
import { givenRunningTask, givenWaitingTask, TASK, typesOf } from './given.ts';
import { NOON } from './table.ts';

test('queues a waiting task and tells it', () => {
  const { task, events } = resumed(givenWaitingTask().task(TASK), NOON);

  expect(task.status).toBe('queued');
  expect(events).toEqual([{ taskId: TASK, conversationId: null, type: 'task.resumed', step: null, data: '{}' }]);
});

test('clears a task that came to a wait of the crashes before', () => {
  const { task } = resumed({ ...givenWaitingTask().task(TASK), crashes: 2 }, NOON);

  expect(task.crashes).toBe(0);
});

test('leaves a running task as it is, without a word', () => {
  const running = givenRunningTask().task(TASK);

  expect(resumed(running, NOON)).toEqual({ task: running, events: [] });
});

test('[Q1] wakes a task once for two things that come in one batch', () => {
  const table = givenWaitingTask();

  const { events } = table.commit([
    { verb: 'wakeTask', args: { taskId: TASK, fence: 1 } },
    { verb: 'declineQuestion', args: { questionId: 'qst_a', reason: null, resolvedBy: 'ann' } },
  ]);

  expect(typesOf(events)).toEqual(['task.resumed', 'question.declined']);
});
