import { expect, test } from 'vitest';
import {
  begin,
  CHILD,
  CONVERSATION,
  cancel,
  finish,
  givenChild,
  givenQueuedTask,
  givenRunningTask,
  givenTurn,
  MINUTE,
  post,
  TASK,
} from '../given.ts';
import { Table } from '../table.ts';

const prune = { verb: 'pruneTask', args: { rootId: TASK, retentionMs: MINUTE } } as const;

function givenEndedTree(): Table {
  const table = givenChild();
  givenQueuedTask({ taskId: 'task_other' }, table);
  table.run(cancel);
  return table;
}

test('deletes the events of a tree that ended long ago, and of no other', () => {
  const table = givenEndedTree();
  table.now += MINUTE;

  const { outcome, events } = table.run(prune);

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(events).toEqual([]);
  expect(table.events.map(({ taskId }) => taskId)).toEqual(['task_other']);
});

test('deletes the journals of the tree, and of no other', () => {
  const table = givenEndedTree();
  givenRunningTask({ taskId: 'task_running' }, table);
  table.run(begin({ taskId: 'task_running' }));
  table.now += MINUTE;

  table.run(prune);

  expect([...table.rows.values()].map(({ taskId, key }) => [taskId, key])).toEqual([['task_running', 'charge']]);
});

test('moves the marks of the task and the log to the last event pruned', () => {
  const table = givenEndedTree();
  table.now += MINUTE;

  table.run(prune);

  const { lastSeq, prunedSeq } = table.task(TASK);
  expect(prunedSeq).toBe(lastSeq);
  expect(table.log.prunedSeq).toBe(lastSeq);
});

test('never moves the mark of the log back', () => {
  const table = givenEndedTree();
  table.run({ verb: 'cancelTask', args: { taskId: 'task_other', reason: null } });
  table.now += MINUTE;
  table.run({ verb: 'pruneTask', args: { rootId: 'task_other', retentionMs: MINUTE } });
  const mark = table.log.prunedSeq;

  table.run(prune);

  expect(table.log.prunedSeq).toBe(mark);
});

test('keeps what ended too lately', () => {
  const table = givenEndedTree();
  table.now += MINUTE - 1;
  const before = table.records();

  const { outcome } = table.run(prune);

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
  expect(table.records()).toEqual(before);
});

test('prunes once', () => {
  const table = givenEndedTree();
  table.now += MINUTE;

  const { outcomes } = table.commit([prune, prune]);

  expect(outcomes).toMatchObject([{ ok: true }, { ok: false, code: 'not_due' }]);
});

test.each([
  ['an unfinished task', givenRunningTask(), TASK],
  ['a child apart from its root', givenEndedTree(), CHILD],
  ['an unknown task', new Table(), TASK],
])('leaves %s alone', (_what, table, rootId) => {
  table.now += MINUTE;

  const { outcome } = table.run({ verb: 'pruneTask', args: { rootId, retentionMs: MINUTE } });

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
});

test('moves the mark of the conversation, never back', () => {
  const table = givenTurn();
  table.run(finish);
  table.run(post('b'));
  table.run({ verb: 'cancelTask', args: { taskId: 'task_b', reason: null } });
  const mark = () => table.conversations.get(CONVERSATION)?.prunedSeq;

  table.run({ verb: 'pruneTask', args: { rootId: 'task_b', retentionMs: 0 } });
  const newest = mark();
  table.run({ verb: 'pruneTask', args: { rootId: TASK, retentionMs: 0 } });

  expect(newest).toBe(table.task('task_b').lastSeq);
  expect(mark()).toBe(newest);
});

test('prunes a task whose conversation was deleted', () => {
  const table = givenTurn();
  table.run({ verb: 'deleteConversation', args: { conversationId: CONVERSATION } });

  expect(table.run({ verb: 'pruneTask', args: { rootId: TASK, retentionMs: 0 } }).outcome.ok).toBe(true);
});
