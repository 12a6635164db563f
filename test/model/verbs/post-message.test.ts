import { expect, test } from 'vitest';
import {
  append,
  begin,
  CONVERSATION,
  cancel,
  claimOf,
  createArgs,
  dataOf,
  delta,
  finish,
  givenConversation,
  givenQuestion,
  givenTurn,
  MINUTE,
  post,
  QUESTION,
  steer,
  TASK,
  typesOf,
} from '../given.ts';
import { NOON, Table } from '../table.ts';

const WHEN_BUSY = ['interrupt', 'enqueue', 'reject', 'steer'] as const;

test.each(WHEN_BUSY)('begins a turn where none is unfinished, with %s as with any other', (whenBusy) => {
  const table = givenConversation();
  table.now += MINUTE;

  const { outcome, events } = table.run(post('a', { whenBusy, metadata: { n: 1 } }));

  const message = {
    ...{ id: 'msg_by_a', conversationId: CONVERSATION, taskId: TASK, role: 'user', content: 'a', status: 'complete' },
    ...{ empty: false, metadata: { n: 1 }, createdAt: '2026-01-01T12:01:00.000Z' },
  };
  const input = { message: 'a', conversationId: CONVERSATION };
  expect(outcome).toEqual({ ok: true, result: { message, task: table.task(TASK) }, replayed: false });
  expect(dataOf(events)).toEqual([
    ['message.completed', { message }],
    ['task.created', { agent: 'chat', input, parentId: null, retryOf: null }],
  ]);
  expect(events.map((event) => [event.taskId, event.conversationId])).toEqual([
    [TASK, CONVERSATION],
    [TASK, CONVERSATION],
  ]);
  expect(table.task(TASK)).toMatchObject({
    ...{ agent: 'chat', input, conversationId: CONVERSATION, isTurn: true, lane: `turn ${CONVERSATION}` },
    ...{ status: 'queued', priority: 0, concurrencyKey: null, maxAttempts: 1, timeoutMs: 30 * MINUTE },
    ...{ firstSeq: 2, inbox: [], messageCount: 0 },
  });
  expect([...table.messages.values()]).toEqual([message]);
  expect(table.conversations.get(CONVERSATION)).toMatchObject({ agent: 'chat', lastActivityAt: NOON + MINUTE });
});

test('begins a turn whatever tasks beside the turns are unfinished', () => {
  const table = givenConversation();
  table.run({ verb: 'createTask', args: createArgs({ taskId: 'task_beside', conversationId: CONVERSATION }) });

  const outcomes = WHEN_BUSY.map((whenBusy, n) => {
    const { outcome } = table.run(post(`${n}`, { whenBusy }));
    table.run({ verb: 'cancelTask', args: { taskId: `task_${n}`, reason: null } });
    return outcome.ok;
  });

  expect(outcomes).toEqual([true, true, true, true]);
  expect(table.task('task_beside').status).toBe('queued');
});

test('interrupts all turns that are unfinished, with their questions, and says so before it begins', () => {
  const table = givenTurn();
  givenQuestion({}, table);
  table.run(post('b'));

  const { events } = table.run(post('c', { whenBusy: 'interrupt', agent: 'other' }));

  expect(events.map(({ taskId, type }) => [taskId, type])).toEqual([
    [TASK, 'question.cancelled'],
    [TASK, 'message.completed'],
    [TASK, 'task.cancelled'],
    ['task_b', 'message.completed'],
    ['task_b', 'task.cancelled'],
    ['task_c', 'message.completed'],
    ['task_c', 'task.created'],
  ]);
  expect(dataOf(events)).toContainEqual(['task.cancelled', { reason: 'interrupted' }]);
  expect(table.question(QUESTION).resolution).toEqual({ status: 'cancelled', at: NOON, reason: 'interrupted' });
  expect(table.task(TASK)).toMatchObject({ status: 'cancelled', held: true });
  expect(table.conversations.get(CONVERSATION)?.agent).toBe('other');
});

test('interrupts in the middle of a sentence, which is kept as far as it came, before what interrupts it', () => {
  const table = givenTurn();
  table.commit([begin({ key: 'reply', messageId: 'msg_reply' }), append(0, [delta('Lis', 'msg_reply')])]);

  table.run(post('b', { whenBusy: 'interrupt' }));

  const said = [...table.messages.values()].map(({ id, content, status }) => [id, content, status]);
  expect(said).toEqual([
    ['msg_by_a', 'a', 'complete'],
    ['msg_reply', 'Lis', 'partial'],
    ['msg_by_b', 'b', 'complete'],
  ]);
});

test('interrupting leaves what was sent to the turn and not taken as a message of it', () => {
  const table = givenTurn();
  table.run(steer('late'));

  table.run(post('b', { whenBusy: 'interrupt' }));

  expect(table.tasks.has('task_late')).toBe(false);
  expect(table.messages.get('msg_by_late')).toMatchObject({ taskId: TASK, content: 'late' });
});

test('lets a turn run after those that are unfinished', () => {
  const table = givenTurn();

  table.run(post('b'));
  table.run(post('c'));

  for (const id of ['task_b', 'task_c']) {
    expect(table.run(claimOf(id)).outcome).toMatchObject({ ok: false, code: 'not_claimable' });
  }
  table.commit([finish, { verb: 'releaseTask', args: { taskId: TASK, fence: 1 } }]);
  expect(table.run(claimOf('task_c')).outcome).toMatchObject({ ok: false, code: 'not_claimable' });
  expect(table.run(claimOf('task_b')).outcome).toMatchObject({ ok: true });
});

test('rejects a message while a turn is unfinished, and shows the first of them', () => {
  const table = givenTurn();
  table.run(post('b'));
  const before = table.records();

  const { outcome, events } = table.run(post('c', { whenBusy: 'reject' }));

  expect(outcome).toMatchObject({ ok: false, code: 'conversation_busy', details: { task: table.task(TASK) } });
  expect(events).toEqual([]);
  expect(table.records()).toEqual(before);
});

test('steers the first turn that is unfinished: it is sent the message, and no turn begins', () => {
  const table = givenTurn();
  table.run(post('b', { agent: 'other' }));
  table.now += MINUTE;

  const { outcome, events } = table.run(post('c', { whenBusy: 'steer', metadata: { n: 1 } }));

  const createdAt = '2026-01-01T12:01:00.000Z';
  const message = {
    ...{ id: 'msg_by_c', conversationId: CONVERSATION, taskId: TASK, role: 'user', content: 'c', status: 'complete' },
    ...{ empty: false, metadata: { n: 1 }, createdAt },
  };
  const sent = { messageId: 'msg_by_c', taskId: 'task_c', content: 'c', metadata: { n: 1 }, createdAt };
  expect(outcome).toMatchObject({ ok: true, result: { message, task: table.task(TASK) } });
  expect(dataOf(events)).toEqual([['message.completed', { message }]]);
  expect(events[0]).toMatchObject({ taskId: TASK, step: null });
  expect(table.task(TASK)).toMatchObject({ status: 'running', inbox: [sent] });
  expect(table.task('task_b').inbox).toEqual([]);
  expect(table.tasks.has('task_c')).toBe(false);
  // The agent of a next turn is still that of the last one.
  expect(table.conversations.get(CONVERSATION)).toMatchObject({ agent: 'other', lastActivityAt: NOON + MINUTE });
});

test.each([
  ['a hundred messages', 100, 'x'],
  ['1 MiB', 2, 'x'.repeat(512 * 1024)],
])('sends a turn no more than %s before it takes some', (_what, count, content) => {
  const table = givenTurn();
  for (let n = 0; n < count; n++) table.run(post(`${n}`, { whenBusy: 'steer', content }));
  const before = table.records();

  const { outcome } = table.run(post('more', { whenBusy: 'steer' }));

  expect(outcome).toMatchObject({ ok: false, code: 'conversation_busy', details: { task: table.task(TASK) } });
  expect(table.records()).toEqual(before);
});

test('knows no conversation with another id, and none that was deleted', () => {
  const deleted = givenConversation();
  deleted.run({ verb: 'deleteConversation', args: { conversationId: CONVERSATION } });

  for (const table of [new Table(), deleted]) {
    expect(table.run(post('a')).outcome).toMatchObject({ ok: false, code: 'not_found' });
  }
});

test('never replaces a task that has the same id', () => {
  const table = givenTurn();

  const { outcome } = table.run(post('b', { taskId: TASK }));

  expect(outcome).toMatchObject({ ok: false, code: 'internal' });
});

test('gives the same message and task again for the same Idempotency-Key, and writes once', () => {
  const table = givenConversation();
  const idempotency = { key: 'k-1', fingerprint: 'POST' };

  const first = table.run({ ...post('a'), idempotency });
  table.run(cancel);
  const again = table.run({ ...post('b'), idempotency });

  expect(again.outcome).toEqual({ ...first.outcome, replayed: true });
  expect(table.messages.size).toBe(2);
  expect(typesOf(again.events)).toEqual([]);
});

test('decides each of a batch over those before it', () => {
  const table = givenConversation();

  const { outcomes } = table.commit([post('a'), post('b', { whenBusy: 'reject' }), steer('c'), post('d')]);

  expect(outcomes.map((outcome) => outcome.ok)).toEqual([true, false, true, true]);
  expect(table.task(TASK).inbox).toMatchObject([{ messageId: 'msg_by_c' }]);
  expect([...table.tasks.keys()]).toEqual([TASK, 'task_d']);
});
