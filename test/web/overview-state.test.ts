import { describe, expect, test } from 'vitest';
import type { Conversation, LogEvent } from '../../src/client/index.ts';
import {
  byActivity,
  conversationStandings,
  EMPTY_OVERVIEW,
  type OverviewState,
  withEvent,
  withResolved,
} from '../../src/web/overview/overview-state.ts';
import { eventOf } from './event-example.ts';
import { questionOf } from './question-example.ts';

const CONVERSATION: Conversation = {
  id: 'conv_1',
  title: 'Lisbon',
  metadata: {},
  createdAt: '2026-12-01T11:00:00.000Z',
  lastActivityAt: '2026-12-01T11:00:00.000Z',
};
const HERE = { conversationId: 'conv_1' };
const created = eventOf('conversation.created', { conversation: CONVERSATION }, { ...HERE, taskId: null });
const begun = eventOf('task.created', { agent: 'assistant', input: null, parentId: null, retryOf: null }, HERE);
const asked = eventOf('question.asked', { question: questionOf() }, HERE);

function overviewAfter(...events: LogEvent[]): OverviewState {
  return events.reduce(withEvent, EMPTY_OVERVIEW);
}

describe('the overview', () => {
  test.each([
    [[begun], 'queued'],
    [[begun, eventOf('task.started', { attempt: 1 })], 'running'],
    [[begun, eventOf('task.waiting', { questionIds: [], until: null, for: ['people'] })], 'waiting'],
    [
      [begun, eventOf('task.waiting', { questionIds: [], until: null, for: [] }), eventOf('task.resumed', {})],
      'running',
    ],
    [[begun, eventOf('task.started', { attempt: 1 }), eventOf('task.recovered', { attempt: 1 })], 'queued'],
    [[begun, eventOf('task.retrying', { attempt: 1 })], 'queued'],
  ])('shows a task after %j as %s', (events, status) => {
    expect(overviewAfter(...events).tasks.get('task_1')?.status).toBe(status);
  });

  test.each(['task.completed', 'task.failed', 'task.cancelled'])('has no task that has ended by %s', (type) => {
    expect(overviewAfter(begun, eventOf(type, {})).tasks.size).toBe(0);
  });

  test('shows a question until it is resolved, and how it was', () => {
    const answered = eventOf('question.answered', {
      questionId: 'qst_1',
      answers: { month: 'june' },
      resolvedBy: 'local',
    });

    expect([...overviewAfter(asked).questions.keys()]).toEqual(['qst_1']);
    expect(overviewAfter(asked, answered).questions.size).toBe(0);
    expect(overviewAfter(asked, answered).resolved).toEqual([
      questionOf({
        status: 'answered',
        answers: { month: 'june' },
        resolvedBy: 'local',
        resolvedAt: '2026-12-01T12:00:00.000Z',
      }),
    ]);
  });

  test.each([
    ['question.declined', { reason: 'no', resolvedBy: 'local' }, 'declined'],
    ['question.expired', { resolvedBy: null }, 'expired'],
    ['question.cancelled', { reason: 'interrupted', resolvedBy: null }, 'cancelled'],
  ])('knows a question after %s', (type, data, status) => {
    const { resolved } = overviewAfter(asked, eventOf(type, { questionId: 'qst_1', ...data }));

    expect(resolved[0]).toMatchObject({ status, answers: null, resolvedBy: data.resolvedBy });
  });

  test('tells a resolution once, whether the answer or the event tells it first', () => {
    const question = questionOf({ status: 'answered', answers: { month: 'june' }, resolvedBy: 'local' });
    const told = eventOf('question.answered', { questionId: 'qst_1', answers: { month: 'june' }, resolvedBy: 'local' });

    expect(withEvent(withResolved(overviewAfter(asked), question), told).resolved).toEqual([question]);
  });

  test('shows in which conversation something goes on, and where somebody waits for an answer', () => {
    const standing = (...events: LogEvent[]) => conversationStandings(overviewAfter(...events)).get('conv_1');

    expect(standing(created)).toBeUndefined();
    expect(standing(created, begun)).toEqual({
      status: 'running',
      questionCount: 0,
    });
    expect(standing(created, begun, asked)).toEqual({
      status: 'waiting',
      questionCount: 1,
    });
  });

  test('moves a conversation to the front when somebody writes in it, and not when an agent does', () => {
    const other = { ...CONVERSATION, id: 'conv_2', lastActivityAt: '2026-12-01T11:30:00.000Z' };
    const both = overviewAfter(created, eventOf('conversation.created', { conversation: other }));
    const said = (role: string) => eventOf('message.completed', { message: { role } }, HERE);
    const order = (state: OverviewState) => byActivity(state.conversations).map(({ id }) => id);

    expect(order(both)).toEqual(['conv_2', 'conv_1']);
    expect(order(withEvent(both, said('assistant')))).toEqual(['conv_2', 'conv_1']);
    expect(order(withEvent(both, said('user')))).toEqual(['conv_1', 'conv_2']);
  });

  test('forgets everything of a conversation that is deleted', () => {
    const deleted = eventOf('conversation.deleted', { conversationId: 'conv_1' }, { ...HERE, taskId: null });

    expect(overviewAfter(created, begun, asked, deleted)).toEqual(EMPTY_OVERVIEW);
  });

  test('takes the new title of a conversation', () => {
    const renamed = eventOf('conversation.updated', { conversation: { ...CONVERSATION, title: 'Porto' } });

    expect(overviewAfter(created, renamed).conversations.get('conv_1')?.title).toBe('Porto');
  });

  test('is the same object after what it does not show', () => {
    const state = overviewAfter(created, begun);

    for (const type of ['step.started', 'task.progress', 'message.delta', 'trip.found']) {
      expect(withEvent(state, eventOf(type, {}))).toBe(state);
    }
  });

  test('is the same when events come again', () => {
    const events = [created, begun, eventOf('task.started', { attempt: 1 }), asked];

    expect(overviewAfter(...events, ...events)).toEqual(overviewAfter(...events));
  });
});
