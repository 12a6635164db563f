import { expect, test } from 'vitest';
import { retryTask } from '../../../src/model/verbs/retry-task.ts';
import { View } from '../../../src/model/view.ts';
import {
  append,
  begin,
  CHILD,
  cancel,
  claimOf,
  cutAt,
  dataOf,
  fail,
  failure,
  finish,
  givenCancelledTask,
  givenChild,
  givenQuestion,
  givenQueuedTask,
  givenRunningTask,
  givenWaitingTask,
  lease,
  MINUTE,
  note,
  settle,
  sleep,
  TASK,
} from '../given.ts';
import { NOON, Table } from '../table.ts';

const RETRIED = 'task_retried';
const retry = { verb: 'retryTask', args: { taskId: TASK, newTaskId: RETRIED } } as const;
const send = (message: string) => ({ verb: 'addToInbox', args: { taskId: TASK, message } }) as const;
const take = (over = {}) => ({ verb: 'takeInbox', args: { ...lease(), key: 'inbox', askedAt: 0, ...over } }) as const;

test('queues a new task like the one that has failed, and tells it', () => {
  const given = { metadata: { from: 'web' }, priority: 7, concurrencyKey: 'ann', maxAttempts: 3, timeoutMs: MINUTE };
  const table = givenRunningTask(given);
  table.run(fail({ error: { code: 'invalid_output', message: 'no' } }));
  table.now += MINUTE;

  const { outcome, events } = table.run(retry);

  expect(outcome).toMatchObject({ ok: true, result: { task: table.task(RETRIED) } });
  expect(dataOf(events)).toEqual([
    ['task.created', { agent: 'trip-planner', input: { city: 'Lisbon' }, parentId: null, retryOf: TASK }],
  ]);
  expect(table.task(RETRIED)).toMatchObject({
    ...{ ...given, agent: 'trip-planner', input: { city: 'Lisbon' }, status: 'queued', retryOf: TASK },
    ...{ parentId: null, rootId: RETRIED, spawnKey: null, depth: 0, attempt: 0, failures: 0, fence: 0, held: false },
    ...{ seed: TASK, originAt: NOON, version: '1', createdAt: table.now, error: null, cut: null, ranMs: 0 },
  });
});

test('keeps the seed over a chain of retries', () => {
  const table = givenCancelledTask();
  table.now += MINUTE;
  table.run(retry);
  table.run({ verb: 'cancelTask', args: { taskId: RETRIED, reason: null } });

  table.run({ verb: 'retryTask', args: { taskId: RETRIED, newTaskId: 'task_c' } });

  expect(table.task('task_c')).toMatchObject({ retryOf: RETRIED, seed: TASK, originAt: NOON });
});

test('copies what is resolved, in its place, and asks anew for what was pending', () => {
  const table = givenRunningTask();
  table.commit([append(0, [note()]), begin({ askedAt: 1 }), settle()]);
  givenQuestion({ askedAt: 2 }, table);
  table.commit([begin({ key: 'other', askedAt: 2 }), sleep({ askedAt: 2 }), cancel]);

  table.run(retry);

  expect(table.journal(RETRIED)).toEqual([{ ...table.row(TASK, 'charge'), taskId: RETRIED }]);
  expect(table.journal(RETRIED)).toMatchObject([{ status: 'done', value: '"paid"', askedAt: 1, ord: 1, emitsDone: 1 }]);
  expect(table.task(RETRIED)).toMatchObject({ ord: 1, emits: 0, pendingQuestionCount: 0, marks: [] });
  expect(table.journal(TASK)).toHaveLength(4);
});

test('leaves a mark of a `once` step that had begun and not ended', () => {
  const table = givenRunningTask();
  table.commit([begin({ once: true }), begin({ key: 'plain' }), cancel]);

  table.run(retry);

  expect(table.journal(RETRIED)).toEqual([]);
  expect(table.task(RETRIED).marks).toEqual(['charge']);
});

test('reopens a spawn in its place whose child had not ended', () => {
  const table = givenChild({ askedAt: 1 });
  table.run(cancel);

  table.run(retry);

  expect(table.journal(RETRIED)).toMatchObject([
    { key: 'flights', kind: 'spawn', status: 'pending', value: null, ord: 1, emitsDone: 0, at: NOON },
  ]);
  expect(table.task(RETRIED).ord).toBe(1);
});

test('copies a spawn that was reopened and has no child yet', () => {
  const table = givenChild({}, givenRunningTask({ maxAttempts: 2 }));
  table.run({ verb: 'cancelTask', args: { taskId: CHILD, reason: null } });
  table.run(fail({ cut: cutAt({ keys: ['flights>'], askedAt: 1, ord: 2 }) }));
  table.run(cancel);

  table.run(retry);

  expect(table.journal(RETRIED)).toMatchObject([{ key: 'flights', status: 'pending', ord: 1 }]);
});

test('copies a spawn and what its child has come to', () => {
  const table = givenChild();
  table.run({ verb: 'cancelTask', args: { taskId: CHILD, reason: null } });
  table.run(cancel);

  table.run(retry);

  expect(table.journal(RETRIED)).toMatchObject([
    { key: 'flights', status: 'done', value: `"${CHILD}"` },
    { key: 'flights>', status: 'cancelled', ord: 2 },
  ]);
});

test('goes back to before the failure that ended the task', () => {
  const table = givenRunningTask();
  table.commit([begin({ key: 'a' }), settle({ key: 'a' }), append(0, [note(), note()])]);
  table.commit([begin({ askedAt: 1 }), settle({ outcome: failure() })]);
  table.commit([begin({ key: 'after', askedAt: 2 }), settle({ key: 'after' })]);
  table.run(fail({ cut: cutAt({ keys: ['charge'], askedAt: 1, ord: 2, emits: 1 }) }));

  table.run(retry);

  expect(table.journal(RETRIED)).toMatchObject([{ key: 'a', ord: 1, emitsDone: 0 }]);
  expect(table.task(RETRIED)).toMatchObject({ ord: 1, emits: 0 });
  expect(table.journal(TASK)).toHaveLength(3);
});

test('never expects more events before a row than the code emits by the cut', () => {
  const table = givenRunningTask();
  table.commit([begin(), settle({ outcome: failure() }), append(0, [note(), note()])]);
  table.commit([begin({ key: 'slow' }), settle({ key: 'slow' })]);
  table.run(fail({ cut: cutAt({ keys: ['charge'], emits: 1 }) }));

  table.run(retry);

  expect(table.journal(RETRIED)).toMatchObject([{ key: 'slow', ord: 2, emitsDone: 1 }]);
});

test('takes along the marks and the messages, those that are put back first', () => {
  const table = givenRunningTask();
  table.commit([send('a'), begin(), settle({ outcome: failure() }), take({ askedAt: 1 }), send('b')]);
  table.commit([begin({ key: 'pay', askedAt: 1, once: true }), settle({ key: 'pay' })]);
  table.run(fail({ cut: cutAt({ keys: ['charge'] }) }));

  table.run(retry);

  expect(table.task(RETRIED)).toMatchObject({ inbox: ['a', 'b'], marks: ['pay'] });
});

test('retries a child as a task of its own', () => {
  const table = givenChild();
  table.run(claimOf(CHILD));
  table.run(fail({ taskId: CHILD }));

  table.run({ verb: 'retryTask', args: { taskId: CHILD, newTaskId: RETRIED } });

  expect(table.task(RETRIED)).toMatchObject({ parentId: null, rootId: RETRIED, depth: 0, retryOf: CHILD });
});

function givenPruned(taskId: string): Table {
  const table = givenChild();
  table.run(cancel);
  table.now += MINUTE;
  table.run({ verb: 'pruneTask', args: { rootId: TASK, retentionMs: MINUTE } });
  expect(table.task(taskId).status).toBe('cancelled');
  return table;
}

test.each([
  ['that has not ended', givenWaitingTask(), TASK],
  ['that is completed', completed(), TASK],
  ['whose journal is deleted', givenPruned(TASK), TASK],
  ["whose journal is deleted with its root's", givenPruned(CHILD), CHILD],
])('refuses to retry a task %s, and shows it', (_what, table, taskId) => {
  const before = table.records();

  const { outcome } = table.run({ verb: 'retryTask', args: { taskId, newTaskId: RETRIED } });

  expect(outcome).toMatchObject({ ok: false, code: 'task_finished', details: { task: table.task(taskId) } });
  expect(table.records()).toEqual(before);
});

function completed(): Table {
  const table = givenRunningTask();
  table.run(finish);
  return table;
}

test('never replaces a task that has the same id', () => {
  const table = givenCancelledTask();
  givenQueuedTask({ taskId: RETRIED }, table);

  const { outcome } = table.run(retry);

  expect(outcome).toMatchObject({ ok: false, code: 'internal' });
});

test('knows no task with another id', () => {
  const { outcome } = new Table().run(retry);

  expect(outcome).toMatchObject({ ok: false, code: 'not_found' });
});

test('gives a worker the copy in the very batch that has made it', () => {
  const table = givenRunningTask();
  table.commit([begin(), settle()]);

  const { outcomes } = table.commit([cancel, retry, claimOf(RETRIED)]);

  expect(outcomes[2]).toMatchObject({
    ok: true,
    result: { rows: [{ key: 'charge', taskId: RETRIED, status: 'done' }] },
  });
});

test('makes the retried task the same twice for one Idempotency-Key', () => {
  const table = givenCancelledTask();
  const idempotency = { key: 'k', fingerprint: 'retry' };
  table.run({ ...retry, idempotency });

  const { outcome } = table.run({ ...retry, args: { ...retry.args, newTaskId: 'task_x' }, idempotency });

  expect(outcome).toMatchObject({ ok: true, replayed: true, result: { task: { id: RETRIED } } });
  expect(table.tasks.has('task_x')).toBe(false);
});

test('throws at a child whose root is not loaded, for that is a bug', () => {
  const table = givenChild();
  table.run({ verb: 'cancelTask', args: { taskId: CHILD, reason: null } });
  const view = new View(table.log);
  view.load({ tasks: [table.task(CHILD)] });

  const decide = () => retryTask.decide(view, { taskId: CHILD, newTaskId: RETRIED }, NOON);

  expect(decide).toThrow(`The root of ${CHILD} is not loaded.`);
});
