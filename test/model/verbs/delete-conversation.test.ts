import { expect, test } from 'vitest';
import {
  append,
  begin,
  CHILD,
  CONVERSATION,
  createArgs,
  dataOf,
  delta,
  finish,
  givenConversation,
  givenQuestion,
  givenTurn,
  post,
  QUESTION,
  spawn,
  steer,
  TASK,
} from '../given.ts';
import type { Table } from '../table.ts';
import { Table as EmptyTable, NOON } from '../table.ts';

const remove = { verb: 'deleteConversation', args: { conversationId: CONVERSATION } } as const;

function statuses(table: Table): Record<string, string> {
  return Object.fromEntries([...table.tasks.values()].map(({ id, status }) => [id, status]));
}

test('leaves a tombstone that says nothing of what was in it', () => {
  const table = givenConversation();

  const { outcome, events } = table.run(remove);

  const record = table.conversations.get(CONVERSATION);
  expect(record).toMatchObject({ title: null, metadata: {}, deletedAt: NOON });
  expect(outcome).toMatchObject({ ok: true, result: { conversation: record } });
  expect(dataOf(events)).toEqual([['conversation.deleted', { conversationId: CONVERSATION }]]);
  expect(events).toMatchObject([{ taskId: null, conversationId: CONVERSATION }]);
});

test('cancels what is unfinished, turns and tasks beside them, with questions and children, before it is told', () => {
  const table = givenTurn();
  givenQuestion({}, table);
  table.run(spawn());
  table.run(post('b'));
  table.run({ verb: 'createTask', args: createArgs({ taskId: 'task_beside', conversationId: CONVERSATION }) });

  const { events } = table.run(remove);

  expect(statuses(table)).toEqual({
    ...{ [TASK]: 'cancelled', [CHILD]: 'cancelled', task_b: 'cancelled', task_beside: 'cancelled' },
  });
  expect(table.question(QUESTION).resolution).toEqual({ status: 'cancelled', at: NOON, reason: 'interrupted' });
  expect(events.map(({ taskId, type }) => [taskId, type])).toEqual([
    [CHILD, 'task.cancelled'],
    [TASK, 'question.cancelled'],
    [TASK, 'message.completed'],
    [TASK, 'task.cancelled'],
    ['task_b', 'message.completed'],
    ['task_b', 'task.cancelled'],
    ['task_beside', 'task.cancelled'],
    [null, 'conversation.deleted'],
  ]);
  expect(dataOf(events)).toContainEqual(['task.cancelled', { reason: 'conversation_deleted' }]);
});

test('ends a message that is being said, and begins no turn for one that was not taken', () => {
  const table = givenTurn();
  table.commit([begin({ key: 'reply', messageId: 'msg_reply' }), append(0, [delta('Lis', 'msg_reply')])]);
  table.run(steer('late'));

  table.run(remove);

  expect(statuses(table)).toEqual({ [TASK]: 'cancelled' });
  expect(table.messages.get('msg_reply')).toMatchObject({ content: 'Lis', status: 'partial' });
  expect(table.row(TASK, 'reply').message).toBeNull();
});

test('leaves what has ended, and what is elsewhere, as it is', () => {
  const table = givenTurn();
  table.run(finish);
  table.run({ verb: 'createConversation', args: { conversationId: 'conv_b', title: null, metadata: {} } });
  table.run(post('b', { conversationId: 'conv_b' }));
  table.run({ verb: 'createTask', args: createArgs({ taskId: 'task_c' }) });

  table.run(remove);

  expect(statuses(table)).toEqual({ [TASK]: 'completed', task_b: 'queued', task_c: 'queued' });
});

test('is done once', () => {
  const table = givenConversation();
  table.run(remove);

  for (const each of [table, new EmptyTable()]) {
    const { outcome, events } = each.run(remove);

    expect(outcome).toMatchObject({ ok: false, code: 'not_found' });
    expect(events).toEqual([]);
  }
});

test('takes what the same batch has written before', () => {
  const table = givenConversation();

  const { outcomes } = table.commit([post('a'), remove, post('b'), { ...post('c'), idempotency: KEY }]);

  expect(outcomes.map((outcome) => (outcome.ok ? 'ok' : outcome.code))).toEqual(['ok', 'ok', 'not_found', 'not_found']);
  expect(statuses(table)).toEqual({ [TASK]: 'cancelled' });
  expect(table.keys.size).toBe(0);
});

const KEY = { key: 'k-1', fingerprint: 'POST' };
