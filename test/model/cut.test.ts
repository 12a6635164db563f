import { expect, test } from 'vitest';
import { applyCut, cutJournal } from '../../src/model/cut.ts';
import type { JournalRow } from '../../src/model/journal.ts';
import { newRow } from '../../src/model/row.ts';
import { View } from '../../src/model/view.ts';
import {
  append,
  begin,
  CHILD,
  claimOf,
  cutAt,
  dataOf,
  delta,
  fail,
  failure,
  givenChild,
  givenQuestion,
  givenRunningTask,
  lease,
  note,
  QUESTION,
  settle,
  sleep,
  spawn,
  TASK,
} from './given.ts';
import { NOON, type Table } from './table.ts';

const LOG = { owner: 'local', head: 9, prunedSeq: 0, epoch: 'epoch001', unfinishedRoots: 0, pendingQuestions: 0 };
const UNCERTAIN = failure('may have run', null, { code: 'step_uncertain' });

/** A running task of two attempts in which the step `x` has failed, at the place 1. */
function givenFailure(over: Parameters<typeof begin>[0] = {}): Table {
  const table = givenRunningTask({ maxAttempts: 2 });
  table.commit([begin({ key: 'x', ...over }), settle({ key: 'x', outcome: failure() })]);
  return table;
}

const cutX = fail({ cut: cutAt({ keys: ['x'] }) });

function keysOf(table: Table): string[] {
  return table.journal(TASK).map(({ key }) => key);
}

/** A step that was run to its end, called after so many deliveries. */
function ran(key: string, askedAt: number, over: Parameters<typeof settle>[0] = {}) {
  return [begin({ key, askedAt, once: over.once ?? false }), settle({ key, ...over })];
}

test('keeps what was asked before the delivery of the failure, whatever its place', () => {
  const table = givenRunningTask({ maxAttempts: 2 });
  table.commit([...ran('a', 0), ...ran('x', 1, { outcome: failure() }), ...ran('late', 1)]);

  table.run(fail({ cut: cutAt({ keys: ['x'], askedAt: 1, ord: 2 }) }));

  expect(table.journal(TASK)).toMatchObject([
    { key: 'a', status: 'done', ord: 1 },
    { key: 'late', status: 'done', ord: 3 },
  ]);
  expect(table.task(TASK).ord).toBe(3);
});

test('drops what was asked after it, and goes on counting from what is left', () => {
  const table = givenRunningTask({ maxAttempts: 2 });
  table.commit([...ran('a', 0), ...ran('x', 1, { outcome: failure() }), ...ran('rescue', 2)]);

  table.run(fail({ cut: cutAt({ keys: ['x'], askedAt: 1, ord: 2 }) }));

  expect(keysOf(table)).toEqual(['a']);
  expect(table.task(TASK).ord).toBe(1);
});

test('keeps a failure that the code had got over before', () => {
  const table = givenRunningTask({ maxAttempts: 2 });
  table.commit([...ran('first', 0, { outcome: failure() }), ...ran('x', 1, { outcome: failure() })]);

  table.run(fail({ cut: cutAt({ keys: ['x'], askedAt: 1, ord: 2 }) }));

  expect(table.journal(TASK)).toMatchObject([{ key: 'first', status: 'failed', ord: 1 }]);
});

test.each([
  [
    'declined',
    { verb: 'declineQuestion', args: { questionId: QUESTION, reason: null, resolvedBy: 'ann' } } as const,
    0,
  ],
  ['expired', { verb: 'expireQuestion', args: { questionId: QUESTION } } as const, 20 * 60_000],
  ['withdrawn', { verb: 'withdrawQuestion', args: { ...lease(), key: 'dates', askedAt: 0 } } as const, 0],
])('drops a question that was %s behind the failure, for it would end the next attempt too', (status, resolve, ms) => {
  const table = givenFailure();
  givenQuestion({}, table);
  table.now += ms;
  table.run(resolve);
  expect(table.row(TASK, 'dates')).toMatchObject({ status, ord: 2 });

  const { events } = table.run(cutX);

  expect(keysOf(table)).toEqual([]);
  expect(events.map(({ type }) => type)).toEqual(['task.retrying']);
});

test('keeps a question that was answered behind the failure', () => {
  const table = givenFailure();
  givenQuestion({}, table);
  table.run({ verb: 'answerQuestion', args: { questionId: QUESTION, given: { answer: 'june' }, resolvedBy: 'ann' } });

  table.run(cutX);

  expect(table.journal(TASK)).toMatchObject([{ key: 'dates', status: 'answered', ord: 2 }]);
});

test('keeps a question pending that was asked before, and withdraws one that was asked after', () => {
  const table = givenFailure();
  givenQuestion({}, table);
  givenQuestion({ questionId: 'qst_b', key: 'sure', askedAt: 1 }, table);

  const { events } = table.run(cutX);

  expect(dataOf(events).slice(1)).toEqual([
    ['question.cancelled', { questionId: 'qst_b', reason: 'withdrawn', resolvedBy: null }],
  ]);
  expect(table.pendingQuestions(TASK).map(({ id }) => id)).toEqual([QUESTION]);
  expect(keysOf(table)).toEqual(['dates']);
  expect(table.task(TASK).pendingQuestionCount).toBe(1);
});

test('cancels a child that was begun after it, with all that hangs on it', () => {
  const table = givenFailure();
  givenChild({ askedAt: 1 }, table);
  table.run(claimOf(CHILD));
  const held = lease({ taskId: CHILD });
  givenQuestion({ ...held, questionId: 'qst_child' }, table);
  table.commit([sleep(held), spawn({ ...held, childId: 'task_grandchild' })]);

  const { events, resolutions } = table.run(cutX);

  expect(events.map(({ taskId, type }) => [taskId, type])).toEqual([
    [TASK, 'task.retrying'],
    ['task_grandchild', 'task.cancelled'],
    [CHILD, 'question.cancelled'],
    [CHILD, 'task.cancelled'],
  ]);
  expect(dataOf(events).at(-1)).toEqual(['task.cancelled', { reason: 'parent_retried' }]);
  expect(resolutions).toEqual([]);
  expect(table.task(CHILD)).toMatchObject({ status: 'cancelled', held: true });
  expect(table.row(CHILD, 'nap').dueAt).toBeNull();
  expect(keysOf(table)).toEqual([]);
});

test('keeps a child running that was begun before', () => {
  const table = givenFailure();
  givenChild({}, table);

  table.run(cutX);

  expect(table.task(CHILD).status).toBe('queued');
  expect(table.journal(TASK)).toMatchObject([
    { key: 'flights', status: 'done', ord: 2 },
    { key: 'flights>', status: 'pending' },
  ]);
});

test('drops a sleep that was begun after it', () => {
  const table = givenFailure();
  table.run(sleep({ askedAt: 1, ms: 0 }));
  table.run(cutX);

  const { outcome } = table.run({ verb: 'fireTimer', args: { taskId: TASK, key: 'nap' } });

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
  expect(keysOf(table)).toEqual([]);
});

test('discards what a step was saying that was begun after it', () => {
  const table = givenFailure();
  table.commit([begin({ key: 'sorry', askedAt: 1, messageId: 'msg_a' }), append(0, [delta('So', 'msg_a', 'sorry')])]);

  const { events } = table.run(cutX);

  expect(dataOf(events)[1]).toEqual(['message.discarded', { messageId: 'msg_a', reason: 'step_interrupted' }]);
  expect(events[1]?.step).toBe('{"name":"sorry","attempt":1}');
});

test('puts back what the code took out of its inbox because of the failure, before what came since', () => {
  const table = givenFailure();
  const send = (message: string) => ({ verb: 'addToInbox', args: { taskId: TASK, message } }) as const;
  const take = (key: string, askedAt: number) => ({ verb: 'takeInbox', args: { ...lease(), key, askedAt } }) as const;
  table.commit([send('kept'), take('inbox', 0), send('a'), send('b'), take('inbox#9', 1)]);
  table.commit([send('c'), take('inbox#10', 1), take('inbox#11', 1), send('d')]);

  table.run(cutX);

  expect(table.task(TASK).inbox).toEqual(['a', 'b', 'c', 'd']);
  expect(table.journal(TASK)).toMatchObject([{ key: 'inbox', value: '["kept"]' }]);
});

test.each([
  ['succeeded', ran('pay', 1, { once: true }), ['pay']],
  ['failed', ran('pay', 1, { once: true, outcome: failure() }), ['pay']],
  ['had begun', [begin({ key: 'pay', askedAt: 1, once: true })], ['pay']],
  ['failed beside the other', ran('pay', 0, { once: true, outcome: failure() }), ['pay']],
  ['may be run twice', ran('pay', 1), []],
  ['never began', [settle({ key: 'pay', askedAt: 1, once: true, outcome: UNCERTAIN })], []],
])('remembers the key of a `once` step that is dropped: one that %s', (_what, calls, marks) => {
  const table = givenFailure();
  table.commit(calls);

  table.run(cutX);

  expect(table.task(TASK).marks).toEqual(marks);
  expect(keysOf(table)).toEqual([]);
});

test('lets a `once` step run again whose own failure has ended the attempt', () => {
  const table = givenRunningTask({ maxAttempts: 2 });
  table.commit(ran('pay', 0, { once: true, outcome: failure() }));

  table.run(fail({ cut: cutAt({ keys: ['pay'] }) }));

  expect(table.task(TASK).marks).toEqual([]);
});

test.each([
  ['may have run before', UNCERTAIN],
  ['had used up its time, while its function may go on', failure('late', null, { code: 'step_timeout' })],
])('remembers the key of a `once` step that ended the attempt since it %s', (_what, outcome) => {
  const table = givenRunningTask({ maxAttempts: 2 });
  table.commit(ran('pay', 0, { once: true, outcome }));

  table.run(fail({ cut: cutAt({ keys: ['pay'] }) }));

  expect(table.task(TASK).marks).toEqual(['pay']);
});

test('keeps a `once` step that runs beside the failure, so that it will not run again', () => {
  const table = givenFailure();
  table.run(begin({ key: 'pay', once: true }));

  table.run(cutX);

  expect(table.journal(TASK)).toMatchObject([{ key: 'pay', status: 'pending', once: true, tries: 1 }]);
  expect(table.task(TASK).marks).toEqual([]);
});

test('remembers a key once', () => {
  const table = givenRunningTask({ maxAttempts: 3 });
  table.commit([...ran('x', 0, { outcome: failure() }), ...ran('pay', 1, { once: true }), cutX, claimOf(TASK)]);
  const held = lease({ fence: 2 });
  table.commit([begin({ key: 'x', ...held }), settle({ key: 'x', outcome: failure(), ...held })]);
  table.commit([begin({ key: 'pay', askedAt: 1, once: true, ...held }), { ...cutX, args: { ...cutX.args, ...held } }]);

  expect(table.task(TASK).marks).toEqual(['pay']);
});

test('reopens a spawn whose child has failed, and again when the next one has', () => {
  const table = givenRunningTask({ maxAttempts: 3 });
  const cut = cutAt({ keys: ['flights>'], askedAt: 1, ord: 2 });
  givenChild({ childId: 'task_1' }, table);
  table.run({ verb: 'cancelTask', args: { taskId: 'task_1', reason: null } });
  table.run(fail({ cut }));
  expect(table.journal(TASK)).toMatchObject([{ key: 'flights', status: 'pending', value: null, ord: 1, at: NOON }]);
  const held = lease({ fence: 2 });
  table.commit([claimOf(TASK), spawn({ ...held, childId: 'task_2' })]);
  table.run({ verb: 'cancelTask', args: { taskId: 'task_2', reason: null } });

  table.run(fail({ ...held, cut }));

  expect(table.journal(TASK)).toMatchObject([{ key: 'flights', status: 'pending', value: null, ord: 1, at: NOON }]);
  expect(table.task(TASK).ord).toBe(1);
});

test('keeps a spawn reopened over an attempt that fails before it is called', () => {
  const table = givenRunningTask({ maxAttempts: 3 });
  givenChild({}, table);
  table.run({ verb: 'cancelTask', args: { taskId: CHILD, reason: null } });
  table.commit([fail({ cut: cutAt({ keys: ['flights>'], askedAt: 1, ord: 2 }) }), claimOf(TASK)]);
  const held = lease({ fence: 2 });
  table.commit([begin({ key: 'x', ...held }), settle({ key: 'x', outcome: failure(), ...held })]);

  table.run(fail({ ...held, cut: cutAt({ keys: ['x'], ord: 2 }) }));

  expect(table.journal(TASK)).toMatchObject([{ key: 'flights', status: 'pending', ord: 1 }]);
});

test('lowers how many events come before a row to those that were called by the cut, and no others', () => {
  const table = givenRunningTask({ maxAttempts: 2 });
  table.commit([...ran('a', 0), append(0, [note()]), ...ran('x', 0, { outcome: failure() })]);
  table.commit([append(1, [note(), note(), note()]), ...ran('late', 0)]);
  expect(table.row(TASK, 'late').emitsDone).toBe(4);

  table.run(fail({ cut: cutAt({ keys: ['x'], ord: 2, emits: 2 }) }));

  expect(table.journal(TASK)).toMatchObject([
    { key: 'a', emitsDone: 0 },
    { key: 'late', emitsDone: 2 },
  ]);
  expect(table.task(TASK).emits).toBe(2);
});

test('counts no more events than are stored, whatever its code had told again while it replayed', () => {
  const table = givenRunningTask({ maxAttempts: 2 });
  table.commit([...ran('a', 0), append(0, [note()]), ...ran('x', 0, { outcome: failure() })]);

  table.run(fail({ cut: cutAt({ keys: ['x'], ord: 2, emits: 3 }) }));

  expect(table.task(TASK).emits).toBe(1);
});

test('writes no row that it leaves as it is', () => {
  const table = givenFailure();
  table.commit([...ran('a', 0), append(0, [note()]), ...ran('late', 0)]);
  const view = new View(table.log);
  view.load({ tasks: table.tasks.values(), rows: table.rows.values() });

  const back = applyCut(view, table.task(TASK), cutAt({ keys: ['x'] }), NOON);

  expect(back.rows.map(({ key }) => key)).toEqual(['late']);
  expect(back.droppedRows.map(({ key }) => key)).toEqual(['x']);
});

test.each([
  ['ask', `No question of ${TASK} is pending under lost.`],
  ['child', `No child of ${TASK} is under lost.`],
] as const)('fails loudly at a pending row of kind %s that nothing belongs to', (kind, message) => {
  const view = new View(LOG);
  view.load({ rows: [newRow({ taskId: TASK, key: 'lost' }, { kind, askedAt: 9 })] });

  const cut = () => applyCut(view, givenRunningTask().task(TASK), cutAt(), NOON);

  expect(cut).toThrow(message);
});

test('fails loudly at a resolved row without a value', () => {
  const row: JournalRow = {
    ...newRow({ taskId: TASK, key: 'pay' }, { kind: 'step', askedAt: 0, once: true }),
    tries: 1,
  };
  const rows: JournalRow[] = [{ ...row, status: 'failed', ord: 1, emitsDone: 0, at: NOON }];

  const cut = () => cutJournal({ rows, marks: [], inbox: [] }, cutAt({ keys: ['pay'] }));

  expect(cut).toThrow(`pay of ${TASK} has come to nothing yet.`);
});
