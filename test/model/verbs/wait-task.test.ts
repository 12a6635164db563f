import { expect, test } from 'vitest';
import {
  answer,
  askArgs,
  dataOf,
  givenCancelledTask,
  givenQuestion,
  givenRunningTask,
  lease,
  MINUTE,
  QUESTION,
  TASK,
} from '../given.ts';
import { NOON, type Table } from '../table.ts';

const wait = (...keys: string[]) => ({ verb: 'waitTask', args: { ...lease(), keys } }) as const;

function sleep(table: Table, key: string, ms: number): void {
  table.run({ verb: 'startTimer', args: { ...lease(), key, ms } });
}

test('puts a task to rest until a person answers, without a deadline of its own', () => {
  const table = givenQuestion();
  table.now += MINUTE;

  const { outcome, events } = table.run(wait('dates'));

  expect(outcome).toEqual({ ok: true, result: 'waiting', replayed: false });
  expect(dataOf(events)).toEqual([
    ['task.waiting', { questionIds: [QUESTION], until: '2026-01-01T12:15:00.000Z', for: ['people'] }],
  ]);
  expect(table.task(TASK)).toMatchObject({ status: 'waiting', ranMs: MINUTE, runningSince: null, deadlineAt: null });
});

test('says until when it sleeps', () => {
  const table = givenRunningTask();
  sleep(table, 'nap', MINUTE);
  sleep(table, 'long', 2 * MINUTE);

  const { events } = table.run(wait('long', 'nap'));

  expect(dataOf(events)).toEqual([
    ['task.waiting', { questionIds: [], until: new Date(NOON + MINUTE).toISOString(), for: ['timer'] }],
  ]);
});

test('names all that it waits for, and the nearest deadline', () => {
  const table = givenQuestion();
  sleep(table, 'nap', MINUTE);

  const { events } = table.run(wait('nap', 'dates'));

  expect(dataOf(events)).toEqual([
    ['task.waiting', { questionIds: [QUESTION], until: '2026-01-01T12:01:00.000Z', for: ['people', 'timer'] }],
  ]);
});

test('leaves out the questions and timers that it does not wait for', () => {
  const table = givenQuestion();
  table.run({ verb: 'askQuestion', args: askArgs({ questionId: 'qst_b', key: 'other' }) });
  sleep(table, 'nap', 1);

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

test('stays running when one of its keys was resolved meanwhile, so that no wake-up is lost', () => {
  const table = givenQuestion();
  sleep(table, 'nap', MINUTE);
  table.run(answer('june'));
  const before = table.records();

  const { outcome, events } = table.run(wait('dates', 'nap'));

  expect(outcome).toEqual({ ok: true, result: 'already', replayed: false });
  expect(events).toEqual([]);
  expect(table.records()).toEqual(before);
});

test('stays running for a resolved key even when another key is open twice', () => {
  const table = givenQuestion();
  table.run({ verb: 'askQuestion', args: askArgs({ questionId: 'qst_b', key: 'twice' }) });
  table.run({ verb: 'askQuestion', args: askArgs({ questionId: 'qst_c', key: 'twice' }) });
  table.run(answer('june'));

  const { outcome } = table.run(wait('dates', 'twice'));

  expect(outcome).toMatchObject({ result: 'already' });
});

test('refuses to wait for nothing', () => {
  const table = givenRunningTask();

  const { outcome } = table.run(wait());

  expect(outcome).toMatchObject({ ok: false, code: 'internal' });
});

test('refuses a worker whose task has ended', () => {
  const table = givenCancelledTask();

  const { outcome } = table.run(wait('dates'));

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
});
