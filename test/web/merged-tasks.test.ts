import { describe, expect, test } from 'vitest';
import type { Task } from '../../src/client/index.ts';
import { ALL_TASKS } from '../../src/web/route.ts';
import { mergedTasks, withTaskEvent } from '../../src/web/tasks/merged-tasks.ts';
import { TASK } from '../http/app-double.ts';
import { eventOf } from './event-example.ts';

function tasks(...ids: string[]): Task[] {
  return ids.map((id) => ({ ...TASK, id, status: 'running' }));
}

const idsOf = (list: readonly Task[]) => list.map(({ id }) => id).join('');

describe('the list of tasks', () => {
  test('has the newest page in front of what is older', () => {
    expect(idsOf(mergedTasks(tasks('f', 'e', 'd'), tasks('e', 'd', 'c', 'b'), ALL_TASKS))).toBe('fedcb');
  });

  test('lets go of what is not in the newest page any more', () => {
    expect(idsOf(mergedTasks(tasks('f', 'd'), tasks('f', 'e', 'd', 'c'), ALL_TASKS))).toBe('fdc');
  });

  test('shows what an event tells of a task', () => {
    const list = tasks('task_2', 'task_1');
    const failed = eventOf('task.failed', { error: { code: 'agent_error', message: 'broke' } }, { second: 1 });

    expect(withTaskEvent(list, failed, ALL_TASKS)[1]).toMatchObject({
      status: 'failed',
      error: { message: 'broke' },
      finishedAt: '2026-12-01T12:00:01.000Z',
    });
  });

  test.each([
    ['unfinished', 'task.completed', ''],
    ['unfinished', 'task.waiting', 'task_1'],
    ['running', 'task.waiting', ''],
    ['waiting', 'task.waiting', 'task_1'],
  ] as const)('of %s tasks has after %s "%s"', (status, type, ids) => {
    const event = eventOf(type, { output: null, for: [] });

    expect(idsOf(withTaskEvent(tasks('task_1'), event, { ...ALL_TASKS, status }))).toBe(ids);
  });

  test('is the same list after an event of a task that it does not hold', () => {
    const list = tasks('task_2');

    expect(withTaskEvent(list, eventOf('task.started', { attempt: 1 }), ALL_TASKS)).toBe(list);
  });
});
