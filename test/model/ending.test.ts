import { expect, test } from 'vitest';
import { endTask } from '../../src/model/ending.ts';
import { taskError } from '../../src/model/task-error.ts';
import { View } from '../../src/model/view.ts';
import {
  append,
  askArgs,
  begin,
  CHILD,
  cancel,
  claimOf,
  cutAt,
  dataOf,
  delta,
  fail,
  finish,
  givenChild,
  givenQuestion,
  givenRunningTask,
  lease,
  MINUTE,
  note,
  sleep,
  spawn,
  TASK,
  typesOf,
  wait,
} from './given.ts';
import { NOON, type Table } from './table.ts';

const held = lease({ taskId: CHILD });

function endsOf(table: Table): [string | null, string][] {
  return table.told.filter(({ type }) => type === 'task.cancelled').map(({ taskId, data }) => [taskId, data]);
}

function givenRunningChild(): Table {
  const table = givenChild();
  table.run(claimOf(CHILD));
  return table;
}

test('[Q7] cancels the unfinished children of a task that ends, deepest first, and the task last', () => {
  const table = givenChild({ childId: 'task_b' });
  table.run(claimOf('task_b'));
  table.run(spawn({ taskId: 'task_b', childId: 'task_grandchild' }));
  table.run(spawn({ childId: 'task_a_younger', key: 'hotels' }));

  const { events } = table.run(finish);

  expect(events.map(({ taskId, type }) => [taskId, type])).toEqual([
    ['task_grandchild', 'task.cancelled'],
    ['task_b', 'task.cancelled'],
    ['task_a_younger', 'task.cancelled'],
    [TASK, 'task.completed'],
  ]);
  expect(table.unfinishedChildren(TASK)).toEqual([]);
});

test('tells the children why', () => {
  const table = givenChild();

  table.run(cancel);

  expect(endsOf(table)).toEqual([
    [CHILD, '{"reason":"parent_finished"}'],
    [TASK, '{"reason":"changed my mind"}'],
  ]);
});

test('[Q7] cancels the questions and sleeps of the children', () => {
  const table = givenRunningChild();
  givenQuestion({ ...held, questionId: 'qst_child' }, table);
  table.run(sleep(held));

  const { events } = table.run(finish);

  expect(dataOf(events)).toEqual([
    ['question.cancelled', { questionId: 'qst_child', reason: 'cancelled', resolvedBy: null }],
    ['task.cancelled', { reason: 'parent_finished' }],
    ['task.completed', { output: { booked: true } }],
  ]);
  expect(table.task(CHILD)).toMatchObject({ status: 'cancelled', pendingQuestionCount: 0 });
  expect(table.row(CHILD, 'nap')).toMatchObject({ status: 'pending', dueAt: null });
});

test('leaves children alone that have ended before', () => {
  const table = givenChild();
  table.run({ verb: 'cancelTask', args: { taskId: CHILD, reason: null } });

  table.run(finish);

  expect(endsOf(table)).toEqual([[CHILD, '{"reason":null}']]);
});

test('leaves the parent running and the siblings alone of a child that is cancelled', () => {
  const table = givenChild({ childId: 'task_b' });
  table.run(spawn({ childId: 'task_c', key: 'hotels' }));

  table.run({ verb: 'cancelTask', args: { taskId: 'task_b', reason: null } });

  expect(table.task(TASK).status).toBe('running');
  expect(table.task('task_c').status).toBe('queued');
});

test('leaves the questions and sleeps of other tasks alone', () => {
  const table = givenRunningTask();
  givenRunningTask({ taskId: 'task_b' }, table);
  const other = lease({ taskId: 'task_b' });
  givenQuestion({ ...other, questionId: 'qst_b' }, table);
  table.run(sleep(other));

  table.run(cancel);

  expect(table.question('qst_b').resolution).toBeNull();
  expect(table.row('task_b', 'nap').dueAt).toBe(NOON + MINUTE);
});

test('cancels several questions in the order of the asking', () => {
  const table = givenQuestion({ questionId: 'qst_z' });
  table.now += 1;
  table.run({ verb: 'askQuestion', args: askArgs({ questionId: 'qst_y', key: 'b' }) });

  table.run(cancel);

  const cancelled = table.told.filter(({ type }) => type === 'question.cancelled');
  expect(dataOf(cancelled)).toMatchObject([
    [expect.anything(), { questionId: 'qst_z' }],
    [expect.anything(), { questionId: 'qst_y' }],
  ]);
});

test('ends the children in the order of their creation, whatever the batch has loaded first', () => {
  const table = givenChild({ childId: 'task_elder' });
  table.run(spawn({ childId: 'task_younger', key: 'hotels' }));

  table.commit([claimOf('task_younger'), cancel]);

  expect(endsOf(table).map(([taskId]) => taskId)).toEqual(['task_elder', 'task_younger', TASK]);
});

test('keeps the rows pending that nothing has come of, and nothing is due any more', () => {
  const table = givenQuestion();
  table.run(sleep());
  table.run(begin());

  const { resolutions, dueAt } = table.run(cancel);

  expect(resolutions).toEqual([]);
  expect(dueAt).toBeNull();
  expect(table.journal(TASK)).toMatchObject([
    { key: 'dates', status: 'pending', ord: null },
    { key: 'nap', status: 'pending', ord: null, dueAt: null },
    { key: 'charge', status: 'pending', ord: null, tries: 1 },
  ]);
});

test('[T1] keeps what a step was saying as a partial message, before the end of the task', () => {
  const table = givenRunningTask();
  table.commit([begin({ key: 'reply', messageId: 'msg_a' }), append(0, [delta('Lisbon'), delta(' in')])]);

  const { events } = table.run(cancel);

  const message = {
    ...{ id: 'msg_a', conversationId: null, taskId: TASK, role: 'assistant', content: 'Lisbon in' },
    ...{ status: 'partial', empty: false, metadata: {}, createdAt: '2026-01-01T12:00:00.000Z' },
  };
  expect(dataOf(events)).toEqual([
    ['message.completed', { message }],
    ['task.cancelled', { reason: 'changed my mind' }],
  ]);
  expect(events[0]?.step).toBe('{"name":"reply","attempt":1}');
  expect(table.row(TASK, 'reply').message).toBeNull();
});

test('[T1] keeps what the children were saying as well', () => {
  const table = givenRunningChild();
  table.run(begin({ ...held, messageId: 'msg_child' }));

  const { events } = table.run(finish);

  expect(events.map(({ taskId, type }) => [taskId, type])).toEqual([
    [CHILD, 'message.completed'],
    [CHILD, 'task.cancelled'],
    [TASK, 'task.completed'],
  ]);
  expect(JSON.parse(events[0]?.data ?? '')).toMatchObject({ message: { content: '', empty: true, status: 'partial' } });
});

test.each([
  ['completes', { ...finish, args: { ...finish.args, ...held } }, { status: 'completed', output: { booked: true } }],
  ['fails', fail(held), { status: 'failed', error: { code: 'agent_error', message: 'no flights' } }],
  [
    'is cancelled',
    { verb: 'cancelTask', args: { taskId: CHILD, reason: 'enough' } } as const,
    { status: 'cancelled', reason: 'enough' },
  ],
])('tells the running parent of a child that %s', (_how, end, result) => {
  const table = givenRunningChild();
  table.run(append(0, [note()]));

  const { resolutions, events } = table.run(end);

  const told = { status: result.status, value: JSON.stringify(result), ord: 2, emitsDone: 1, at: NOON };
  expect(resolutions).toEqual([{ taskId: TASK, key: 'flights>', ...told, call: 0 }]);
  expect(table.row(TASK, 'flights>')).toMatchObject({ kind: 'child', ...told });
  expect(table.task(TASK)).toMatchObject({ status: 'running', ord: 2 });
  expect(typesOf(events)).toEqual([`task.${result.status}`]);
});

test('wakes the parent that waits for a child, after the end of the child', () => {
  const table = givenRunningChild();
  table.run({ ...wait('flights>'), args: { ...lease(), ord: 1, keys: ['flights>'] } });

  const { events } = table.run(fail(held));

  expect(events.map(({ taskId, type }) => [taskId, type])).toEqual([
    [CHILD, 'task.failed'],
    [TASK, 'task.resumed'],
  ]);
  expect(table.task(TASK).status).toBe('queued');
});

test('keeps the row of a child pending that ended only since its parent did', () => {
  const table = givenRunningChild();

  const { resolutions } = table.run(cancel);

  expect(resolutions).toEqual([]);
  expect(table.row(TASK, 'flights>')).toMatchObject({ status: 'pending', ord: null });
});

test('throws when no row of its parent waits for a child, for that is a bug', () => {
  const view = new View({
    owner: 'local',
    head: 9,
    prunedSeq: 0,
    epoch: 'epoch001',
    unfinishedRoots: 0,
    pendingQuestions: 0,
  });
  const child = givenChild().task(CHILD);

  const end = () => endTask(view, child, { status: 'cancelled', reason: null }, NOON);

  expect(end).toThrow(`The parent of ${CHILD} does not wait for it.`);
});

test.each([
  ['completes', finish, false],
  ['fails by its own word', fail(), false],
  ['is cancelled', cancel, true],
])('is held by its worker after it %s: %s', (_how, end, isHeld) => {
  const table = givenRunningTask();

  table.run(end);

  expect(table.task(TASK).held).toBe(isHeld);
});

test('stays held by its worker when its parent ends', () => {
  const table = givenRunningChild();

  table.run(finish);

  expect(table.task(CHILD)).toMatchObject({ status: 'cancelled', held: true });
});

test('keeps the place where a retry begins of a task that failed, and of no other', () => {
  const cut = cutAt({ keys: ['charge'] });
  const failed = givenRunningTask();
  failed.run(fail({ cut, error: taskError('agent_error', 'no') }));
  const cancelled = givenRunningTask();
  cancelled.run(cancel);

  expect(failed.task(TASK).cut).toEqual(cut);
  expect(cancelled.task(TASK).cut).toBeNull();
});
