import { expect, test } from 'vitest';
import { taskError } from '../../src/model/task-error.ts';
import { emptyMessageId } from '../../src/model/turn.ts';
import {
  append,
  begin,
  CHILD,
  CONVERSATION,
  cancel,
  claimOf,
  createArgs,
  cutAt,
  dataOf,
  delta,
  fail,
  failure,
  finish,
  givenConversation,
  givenTurn,
  lease,
  post,
  settle,
  spawn,
  steer,
  TASK,
  typesOf,
} from './given.ts';
import { NOON, type Table } from './table.ts';

const take = { verb: 'takeInbox', args: { ...lease(), key: 'inbox', askedAt: 0 } } as const;

/** Each stored message as `[id, task, content, status]`. */
function stored(table: Table): [string, string, string, string][] {
  return [...table.messages.values()].map(({ id, taskId, content, status }) => [id, taskId, content, status]);
}

test('stores what a turn says with the event that tells it', () => {
  const table = givenTurn();
  table.run(begin({ key: 'reply', messageId: 'msg_reply' }));

  const { events } = table.run(settle({ key: 'reply', message: { id: 'msg_reply', content: 'Lisbon' } }));

  const [told] = dataOf(events);
  expect(told).toEqual(['message.completed', { message: table.messages.get('msg_reply') }]);
  expect(table.messages.get('msg_reply')).toEqual({
    ...{ id: 'msg_reply', conversationId: CONVERSATION, taskId: TASK, role: 'assistant', content: 'Lisbon' },
    ...{ status: 'complete', empty: false, metadata: {}, createdAt: '2026-01-01T12:00:00.000Z' },
  });
  expect(table.task(TASK).messageCount).toBe(1);
});

test('stores nothing of what a task says that is no turn', () => {
  const table = givenConversation();
  table.run({ verb: 'createTask', args: createArgs({ conversationId: CONVERSATION }) });
  table.commit([claimOf(TASK)]);
  table.run(begin({ key: 'reply', messageId: 'msg_reply' }));

  const { events } = table.run(settle({ key: 'reply', message: { id: 'msg_reply', content: 'Lisbon' } }));
  table.run(finish);

  expect(typesOf(events)).toContain('message.completed');
  expect(table.messages.size).toBe(0);
  expect(table.task(TASK).messageCount).toBe(0);
});

test('stores nothing of what the child of a turn says', () => {
  const table = givenTurn();
  table.run(spawn());
  table.run(claimOf(CHILD));
  const held = lease({ taskId: CHILD });
  table.run(begin({ ...held, key: 'reply', messageId: 'msg_reply' }));

  table.run(settle({ ...held, key: 'reply', message: { id: 'msg_reply', content: 'Lisbon' } }));

  expect(table.task(CHILD)).toMatchObject({ conversationId: CONVERSATION, isTurn: false, lane: table.task(TASK).lane });
  expect(stored(table)).toEqual([['msg_by_a', TASK, 'a', 'complete']]);
});

test.each([
  ['completes', finish, 'complete', 'task.completed'],
  ['fails', fail(), 'partial', 'task.failed'],
  ['is cancelled', cancel, 'partial', 'task.cancelled'],
] as const)('a turn that says nothing has an empty message when it %s', (_how, end, status, type) => {
  const table = givenTurn();

  const { events } = table.run(end);

  const id = emptyMessageId(TASK);
  const message = {
    ...{ id, conversationId: CONVERSATION, taskId: TASK, role: 'assistant', content: '', status, empty: true },
    ...{ metadata: {}, createdAt: '2026-01-01T12:00:00.000Z' },
  };
  expect(dataOf(events)[0]).toEqual(['message.completed', { message }]);
  expect(events[0]?.step).toBeNull();
  expect(typesOf(events)).toEqual(['message.completed', type]);
  expect(table.messages.get(id)).toEqual(message);
  expect(table.task(TASK).messageCount).toBe(1);
});

test('a turn that has said something has no empty message, also when it was nothing that it said', () => {
  const table = givenTurn();
  table.run(begin({ key: 'reply', messageId: 'msg_reply' }));
  table.run(settle({ key: 'reply', message: { id: 'msg_reply', content: '' } }));

  const { events } = table.run(finish);

  expect(typesOf(events)).toEqual(['task.completed']);
  expect(table.messages.get('msg_reply')).toMatchObject({ content: '', empty: true, status: 'complete' });
});

test('a turn that is tried again has no empty message behind those of the attempt before', () => {
  const table = givenTurn();
  table.commit([begin({ key: 'offer' }), settle({ key: 'offer' })]);
  table.run(fail());
  table.run({ verb: 'retryTask', args: { taskId: TASK, newTaskId: 'task_again' } });
  table.run(claimOf('task_again'));

  const again = { verb: 'finishTask', args: { ...lease({ taskId: 'task_again' }), output: null } } as const;
  const { events } = table.run(again);

  expect(typesOf(events)).toEqual(['task.completed']);
});

test('a turn that is cut off in the middle of its words has those, and no empty message', () => {
  const table = givenTurn();
  table.commit([begin({ key: 'reply', messageId: 'msg_reply' }), append(0, [delta('Lis', 'msg_reply')])]);

  const { events } = table.run(fail());

  expect(typesOf(events)).toEqual(['message.completed', 'task.failed']);
  expect(stored(table).slice(1)).toEqual([['msg_reply', TASK, 'Lis', 'partial']]);
});

test('a step of a turn that fails keeps its words, unless it runs again', () => {
  const table = givenTurn();
  const message = { id: 'msg_reply', content: 'Lis' };
  table.run(begin({ key: 'reply', messageId: 'msg_reply' }));

  const again = table.run(settle({ key: 'reply', message, outcome: failure('no', 10) }));
  table.run(begin({ key: 'reply', attempt: 2, messageId: 'msg_other' }));
  table.run(settle({ key: 'reply', attempt: 2, message: { id: 'msg_other', content: 'Por' }, outcome: failure() }));

  expect(typesOf(again.events)).toEqual(['message.discarded', 'step.failed']);
  expect(stored(table).slice(1)).toEqual([['msg_other', TASK, 'Por', 'partial']]);
});

test('what was sent to a turn is taken once, and is no turn then', () => {
  const table = givenTurn();
  table.run(steer('b'));
  table.run(steer('c'));

  const { resolutions } = table.run(take);
  table.run(finish);

  const taken = JSON.parse(resolutions[0]?.value ?? '');
  expect(taken).toEqual([
    ...['b', 'c'].map((content) => ({
      ...{ messageId: `msg_by_${content}`, taskId: `task_${content}`, content, metadata: {} },
      createdAt: '2026-01-01T12:00:00.000Z',
    })),
  ]);
  expect([...table.tasks.keys()]).toEqual([TASK]);
  expect(stored(table).map(([id, taskId]) => [id, taskId])).toEqual([
    ['msg_by_a', TASK],
    ['msg_by_b', TASK],
    ['msg_by_c', TASK],
    [emptyMessageId(TASK), TASK],
  ]);
});

test.each([
  ['completes', finish],
  ['fails', fail()],
  ['is cancelled by itself', cancel],
])('what was sent to a turn and not taken begins turns of their own, in their order, when it %s', (_how, end) => {
  const table = givenTurn();
  table.run(take);
  table.run(steer('b'));
  table.run(steer('c'));
  table.run(post('d'));
  table.now += 1000;

  const { events } = table.run(end);

  const [, , ...begun] = events;
  expect(begun.map(({ taskId, type }) => [taskId, type])).toEqual([
    ['task_b', 'message.completed'],
    ['task_b', 'task.created'],
    ['task_c', 'message.completed'],
    ['task_c', 'task.created'],
  ]);
  for (const content of ['b', 'c']) {
    expect(table.task(`task_${content}`)).toMatchObject({
      ...{ agent: 'chat', status: 'queued', isTurn: true, lane: `turn ${CONVERSATION}`, createdAt: NOON + 1000 },
      input: { message: content, conversationId: CONVERSATION },
    });
    // It was written when it was written.
    expect(table.messages.get(`msg_by_${content}`)).toMatchObject({
      ...{ taskId: `task_${content}`, createdAt: '2026-01-01T12:00:00.000Z' },
    });
  }
  expect(table.task(TASK).inbox).toEqual([]);
});

test('what else was sent to a turn begins nothing', () => {
  const table = givenTurn();
  for (const message of ['now', 7, null, [], { text: 'hurry' }, { messageId: 'msg_x' }, { taskId: 'task_x' }]) {
    table.run({ verb: 'addToInbox', args: { taskId: TASK, message } });
  }

  table.run(finish);

  expect([...table.tasks.keys()]).toEqual([TASK]);
  expect(table.task(TASK).inbox).toHaveLength(7);
});

test('what else was sent to a turn stays with it, also when messages begin turns of their own', () => {
  const table = givenTurn();
  table.run({ verb: 'addToInbox', args: { taskId: TASK, message: 'now' } });
  table.run(steer('b'));

  table.run(finish);

  expect(table.task(TASK).inbox).toEqual(['now']);
  expect(table.tasks.has('task_b')).toBe(true);
});

test('what was sent to a task that is no turn begins nothing, whatever it looks like', () => {
  const table = givenConversation();
  table.run({ verb: 'createTask', args: createArgs({ conversationId: CONVERSATION }) });
  const message = { messageId: 'msg_x', taskId: 'task_x', content: 'x', metadata: {}, createdAt: 'now' };
  table.run({ verb: 'addToInbox', args: { taskId: TASK, message } });

  table.run(cancel);

  expect([...table.tasks.keys()]).toEqual([TASK]);
});

test('what an attempt has taken and failed with is there for the next, and begins a turn if that does not take it', () => {
  const table = givenConversation();
  table.run(post('a'));
  // A turn has one attempt; another agent may be given more.
  table.tasks.set(TASK, { ...table.task(TASK), maxAttempts: 2 });
  table.run(claimOf(TASK));
  table.run(steer('b'));
  table.run({ ...take, args: { ...take.args, askedAt: 1 } });
  table.run(begin());
  table.run(settle({ outcome: failure() }));
  table.run(fail({ cut: cutAt({ keys: ['charge'], ord: 2 }) }));
  expect(table.task(TASK)).toMatchObject({ status: 'queued', inbox: [{ messageId: 'msg_by_b' }] });

  table.run(cancel);

  expect(table.task('task_b')).toMatchObject({ status: 'queued', input: { message: 'b' } });
});

test('a retry of a turn that was interrupted has what was sent to it, and it begins one turn at most', () => {
  const table = givenTurn();
  table.run(steer('b'));
  table.run(post('c', { whenBusy: 'interrupt' }));
  table.run({ verb: 'cancelTask', args: { taskId: 'task_c', reason: null } });

  for (const newTaskId of ['task_r1', 'task_r2']) {
    table.run({ verb: 'retryTask', args: { taskId: TASK, newTaskId } });
    expect(table.task(newTaskId).inbox).toMatchObject([{ messageId: 'msg_by_b' }]);
    table.run({ verb: 'cancelTask', args: { taskId: newTaskId, reason: null } });
  }

  const created = table.told.filter(({ type, taskId }) => type === 'task.created' && taskId === 'task_b');
  expect(created).toHaveLength(1);
});

test('a turn that fails keeps its place in the line until its next attempt', () => {
  const table = givenConversation();
  table.run(post('a'));
  table.tasks.set(TASK, { ...table.task(TASK), maxAttempts: 2 });
  table.run(claimOf(TASK));
  table.run(post('b'));

  table.run(fail({ jitter: 1, error: taskError('agent_error', 'no') }));

  expect(table.task(TASK)).toMatchObject({ status: 'queued', held: false });
  expect(table.run(claimOf('task_b')).outcome).toMatchObject({ ok: false, code: 'not_claimable' });
});

test('a turn is not begun by the batch in which one before it has ended: there may be others between', () => {
  const table = givenTurn();
  table.run(post('b'));
  table.run(post('c'));

  const { outcomes } = table.commit([finish, claimOf('task_c')]);

  expect(outcomes.map(({ ok }) => ok)).toEqual([true, false]);
  expect(table.run(claimOf('task_c')).outcome.ok).toBe(false);
  expect(table.run(claimOf('task_b')).outcome.ok).toBe(true);
});

test('children of a turn are in its lane, and queue for nobody', () => {
  const table = givenTurn();
  table.run(spawn());
  table.run(post('b'));

  expect(table.run(claimOf(CHILD)).outcome.ok).toBe(true);
  table.commit([finish, { verb: 'releaseTask', args: lease() }]);
  // The child was cancelled with it, and its worker has not let go.
  expect(table.run(claimOf('task_b')).outcome).toMatchObject({ ok: false, code: 'not_claimable' });
  table.run({ verb: 'releaseTask', args: lease({ taskId: CHILD }) });
  expect(table.run(claimOf('task_b')).outcome.ok).toBe(true);
});

test('a turn is not in the way of its own child that was held before', () => {
  const table = givenTurn();
  table.run(spawn());
  table.run(claimOf(CHILD));
  table.run({ verb: 'requeueTask', args: { ...lease(), cause: 'drained' } });

  expect(table.task(CHILD).held).toBe(true);
  expect(table.run(claimOf(TASK)).outcome.ok).toBe(true);
});
