import { expect, test } from 'vitest';
import {
  answer,
  askArgs,
  begin,
  dataOf,
  givenCancelledTask,
  givenChild,
  givenQuestion,
  givenRunningTask,
  lease,
  MINUTE,
  QUESTION,
  settle,
  sleep,
  TASK,
  wait,
} from '../given.ts';
import { NOON } from '../table.ts';

const waitAt = (ord: number, ...keys: string[]) => ({ verb: 'waitTask', args: { ...lease(), ord, keys } }) as const;

test('puts a task to rest until a person answers, without a deadline of its own', () => {
  const table = givenQuestion();
  table.now += MINUTE;

  const { outcome, events } = table.run(wait('dates'));

  expect(outcome).toEqual({ ok: true, result: 'waiting', replayed: false });
  expect(dataOf(events)).toEqual([
    ['task.waiting', { questionIds: [QUESTION], until: '2026-01-01T12:15:00.000Z', for: ['people'] }],
  ]);
  expect(table.task(TASK)).toMatchObject({
    status: 'waiting',
    ranMs: MINUTE,
    runningSince: null,
    deadlineAt: null,
    held: false,
  });
});

test('says until when it sleeps', () => {
  const table = givenRunningTask();
  table.run(sleep({ key: 'nap', ms: MINUTE }));
  table.run(sleep({ key: 'long', ms: 2 * MINUTE }));

  const { events } = table.run(wait('long', 'nap'));

  expect(dataOf(events)).toEqual([
    ['task.waiting', { questionIds: [], until: new Date(NOON + MINUTE).toISOString(), for: ['timer'] }],
  ]);
});

test('names all that it waits for, and the nearest deadline', () => {
  const table = givenQuestion();
  table.run(sleep({ key: 'nap', ms: MINUTE }));

  const { events } = table.run(wait('nap', 'dates'));

  expect(dataOf(events)).toEqual([
    ['task.waiting', { questionIds: [QUESTION], until: '2026-01-01T12:01:00.000Z', for: ['people', 'timer'] }],
  ]);
});

test('leaves out the questions and timers that it does not wait for', () => {
  const table = givenQuestion();
  table.run({ verb: 'askQuestion', args: askArgs({ questionId: 'qst_b', key: 'other' }) });
  table.run(sleep({ key: 'nap', ms: 1 }));

  const { events } = table.run(wait('dates'));

  expect(dataOf(events)).toMatchObject([['task.waiting', { questionIds: [QUESTION], for: ['people'] }]]);
});

test('names the questions in the order of the asking', () => {
  const table = givenQuestion({ questionId: 'qst_z' });
  table.now += 1;
  table.run({ verb: 'askQuestion', args: askArgs({ questionId: 'qst_b', key: 'b' }) });
  table.run({ verb: 'askQuestion', args: askArgs({ questionId: 'qst_a', key: 'a' }) });

  const { events } = table.run(wait('a', 'b', 'dates'));

  expect(dataOf(events)).toMatchObject([['task.waiting', { questionIds: ['qst_z', 'qst_a', 'qst_b'] }]]);
});

test('waits without an end for a question that never expires', () => {
  const table = givenQuestion({ timeoutMs: null });

  const { events } = table.run(wait('dates'));

  expect(dataOf(events)).toMatchObject([['task.waiting', { until: null }]]);
});

test('waits for a child, without an end', () => {
  const table = givenChild();

  const { events } = table.run(waitAt(1, 'flights>'));

  expect(dataOf(events)).toEqual([['task.waiting', { questionIds: [], until: null, for: ['children'] }]]);
});

test('names people before timers and timers before children', () => {
  const table = givenChild();
  table.run(sleep());
  givenQuestion({}, table);

  const { events } = table.run(waitAt(1, 'flights>', 'nap', 'dates'));

  expect(dataOf(events)).toMatchObject([['task.waiting', { for: ['people', 'timer', 'children'] }]]);
});

test('stays running when something was resolved that the copy has not delivered, so that no wake-up is lost', () => {
  const table = givenQuestion();
  table.run(sleep());
  table.run(answer('june'));
  const before = table.records();

  const { outcome, events } = table.run(waitAt(0, 'dates', 'nap'));

  expect(outcome).toEqual({ ok: true, result: 'already', replayed: false });
  expect(events).toEqual([]);
  expect(table.records()).toEqual(before);
});

test('stays running even when all keys that it names are pending', () => {
  const table = givenQuestion();
  table.run(sleep());
  table.run(answer('june'));

  const { outcome } = table.run(waitAt(0, 'nap'));

  expect(outcome).toMatchObject({ result: 'already' });
});

test('waits when it has delivered all that was resolved', () => {
  const table = givenQuestion();
  table.run(sleep());
  table.run(answer('june'));

  const { outcome } = table.run(waitAt(1, 'nap'));

  expect(outcome).toMatchObject({ result: 'waiting' });
});

test('refuses to wait for nothing', () => {
  const table = givenRunningTask();

  const { outcome } = table.run(wait());

  expect(outcome).toMatchObject({ ok: false, code: 'internal' });
});

test.each([
  ['a key that was never asked for', ['dates', 'gone']],
  ['a key that has come to something', ['dates', 'paid']],
  ['a step, which is its own', ['dates', 'charge']],
])('refuses to wait for %s', (_what, keys) => {
  const table = givenQuestion();
  table.commit([begin(), begin({ key: 'paid' }), settle({ key: 'paid' })]);
  const before = table.records();

  const { outcome } = table.run(waitAt(1, ...keys));

  expect(outcome).toMatchObject({ ok: false, code: 'internal' });
  expect(table.records()).toEqual(before);
});

test('takes a key that is named twice for one', () => {
  const { outcome } = givenQuestion().run(wait('dates', 'dates'));

  expect(outcome).toMatchObject({ result: 'waiting' });
});

test('refuses a worker whose task has ended', () => {
  const table = givenCancelledTask();

  const { outcome } = table.run(wait('dates'));

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
});
