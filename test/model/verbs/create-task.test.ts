import { expect, test } from 'vitest';
import { CONVERSATION, createArgs, dataOf, givenConversation, givenQueuedTask, TASK } from '../given.ts';
import { NOON, Table } from '../table.ts';

test('[T3] puts a task in the queue and tells it', () => {
  const table = new Table();

  const args = createArgs({ metadata: { from: 'web' }, maxAttempts: 3 });
  const { outcome, events } = table.run({ verb: 'createTask', args });

  expect(outcome).toMatchObject({ ok: true, replayed: false, result: { task: table.task(TASK) } });
  expect(table.task(TASK)).toMatchObject({
    ...{ owner: 'local', status: 'queued', parentId: null, rootId: TASK, attempt: 0, fence: 0, ranMs: 0, depth: 0 },
    ...{ begins: true, held: false, maxAttempts: 3, runAt: null, seed: TASK, originAt: NOON, ord: 0, emits: 0 },
    ...{ createdAt: NOON, startedAt: null, finishedAt: null, deadlineAt: null, firstSeq: 1, lastSeq: 1, prunedSeq: 0 },
    metadata: { from: 'web' },
  });
  expect(dataOf(events)).toEqual([
    ['task.created', { agent: 'trip-planner', input: { city: 'Lisbon' }, parentId: null, retryOf: null }],
  ]);
});

test.each([
  ['later', NOON + 1, NOON + 1],
  ['now', NOON, null],
  ['in the past', NOON - 1, null],
])('puts off a task that is to begin %s', (_when, runAt, stored) => {
  const table = givenQueuedTask({ runAt });

  expect(table.task(TASK)).toMatchObject({ status: 'queued', runAt: stored });
});

test('never replaces a task that has the same id', () => {
  const table = givenQueuedTask();
  const before = table.records();

  const { outcome } = table.run({ verb: 'createTask', args: createArgs({ input: 'another' }) });

  expect(outcome).toMatchObject({ ok: false, code: 'internal' });
  expect(table.records()).toEqual(before);
});

test('belongs to a conversation without being a turn of it', () => {
  const table = givenConversation();

  const { events } = table.run({ verb: 'createTask', args: createArgs({ conversationId: CONVERSATION }) });

  expect(table.task(TASK)).toMatchObject({ conversationId: CONVERSATION, isTurn: false, lane: null });
  expect(events).toMatchObject([{ taskId: TASK, conversationId: CONVERSATION }]);
  expect(table.messages.size).toBe(0);
});

test('belongs to no conversation that is not there, or was deleted', () => {
  const deleted = givenConversation();
  deleted.run({ verb: 'deleteConversation', args: { conversationId: CONVERSATION } });

  for (const table of [new Table(), deleted]) {
    const { outcome } = table.run({ verb: 'createTask', args: createArgs({ conversationId: CONVERSATION }) });

    expect(outcome).toMatchObject({ ok: false, code: 'not_found' });
    expect(table.tasks.size).toBe(0);
  }
});
