import { describe, expect, test } from 'vitest';
import { ALL_TASKS, hrefOf, parseRoute, type Route } from '../../src/web/route.ts';

const ROUTES: [string, Route][] = [
  ['#/conversations', { page: 'conversations' }],
  ['#/conversations/new', { page: 'start' }],
  ['#/conversations/conv_1', { page: 'conversation', id: 'conv_1' }],
  ['#/inbox', { page: 'inbox' }],
  ['#/tasks', { page: 'tasks', filter: ALL_TASKS }],
  ['#/tasks?status=failed', { page: 'tasks', filter: { ...ALL_TASKS, status: 'failed' } }],
  [
    '#/tasks?status=unfinished&agent=trip-planner&conversation=conv_1',
    { page: 'tasks', filter: { status: 'unfinished', agent: 'trip-planner', conversationId: 'conv_1' } },
  ],
  ['#/tasks/new', { page: 'new-task', agent: null }],
  ['#/tasks/new?agent=parcel', { page: 'new-task', agent: 'parcel' }],
  ['#/tasks/task_1', { page: 'task', id: 'task_1' }],
];

describe('an address', () => {
  test.each(ROUTES)('%s leads to its page', (hash, route) => {
    expect(parseRoute(hash)).toEqual(route);
  });

  test.each(ROUTES)('%s is what its page is linked by', (hash, route) => {
    expect(hrefOf(route)).toBe(hash);
  });

  test.each(['', '#', '#/'])('without a path leads to the conversations: "%s"', (hash) => {
    expect(parseRoute(hash)).toEqual({ page: 'conversations' });
  });

  test.each(['#/nowhere', '#/inbox/1', '#/tasks/task_1/events', '#main'])('%s leads nowhere', (hash) => {
    expect(parseRoute(hash)).toEqual({ page: 'unknown' });
  });

  test('with a status that no task has shows all tasks', () => {
    expect(parseRoute('#/tasks?status=done')).toEqual({ page: 'tasks', filter: ALL_TASKS });
  });
});
