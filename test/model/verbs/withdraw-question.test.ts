import { expect, test } from 'vitest';
import { withdrawQuestion } from '../../../src/model/verbs/withdraw-question.ts';
import { View } from '../../../src/model/view.ts';
import {
  answer,
  askArgs,
  dataOf,
  givenQuestion,
  givenRunningTask,
  givenWaitingTask,
  lease,
  MINUTE,
  QUESTION,
  sleep,
  TASK,
} from '../given.ts';
import { NOON } from '../table.ts';

const withdraw = { verb: 'withdrawQuestion', args: { ...lease(), key: 'dates', askedAt: 0 } } as const;

test('cancels the pending question of that key and no other', () => {
  const table = givenQuestion();
  table.run({ verb: 'askQuestion', args: askArgs({ questionId: 'qst_b', key: 'dates#2' }) });

  const { outcome, events, resolutions } = table.run(withdraw);

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(dataOf(events)).toEqual([
    ['question.cancelled', { questionId: QUESTION, reason: 'withdrawn', resolvedBy: null }],
  ]);
  expect(resolutions).toMatchObject([{ key: 'dates', status: 'withdrawn', value: '{"status":"withdrawn"}' }]);
  expect(table.question('qst_b').resolution).toBeNull();
  expect(table.task(TASK).pendingQuestionCount).toBe(1);
});

test('expires an overdue question rather than take it back', () => {
  const table = givenQuestion({ timeoutMs: MINUTE });
  table.now += MINUTE;

  const { outcome, resolutions } = table.run(withdraw);

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(table.question(QUESTION).resolution).toEqual({ status: 'expired', at: table.now });
  expect(resolutions).toMatchObject([{ status: 'expired' }]);
});

test('leaves an answer that came first as it is', () => {
  const table = givenQuestion();
  table.run(answer('june'));
  const before = table.records();

  const { outcome } = table.run(withdraw);

  expect(outcome.ok).toBe(true);
  expect(table.records()).toEqual(before);
});

test('opens a question as withdrawn whose signal was aborted before, and tells nobody', () => {
  const table = givenRunningTask();

  const { outcome, events, resolutions } = table.run({ ...withdraw, args: { ...withdraw.args, askedAt: 3 } });

  const told = { status: 'withdrawn', value: '{"status":"withdrawn"}', ord: 1, emitsDone: 0, at: NOON };
  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(events).toEqual([]);
  expect(resolutions).toEqual([{ taskId: TASK, key: 'dates', ...told, call: 0 }]);
  expect(table.row(TASK, 'dates')).toMatchObject({ kind: 'ask', askedAt: 3, ...told });
  expect(table.questions.size).toBe(0);
});

test('fails loudly at a key of another kind', () => {
  const table = givenRunningTask();
  table.run(sleep({ key: 'dates' }));

  expect(() => table.run(withdraw)).toThrow(`dates of ${TASK} is of kind sleep, not ask.`);
});

test('fails loudly at a row without its question', () => {
  const table = givenQuestion();
  const view = new View(table.log);
  view.load({ tasks: table.tasks.values(), rows: table.rows.values() });

  const decide = () => withdrawQuestion.decide(view, withdraw.args, NOON);

  expect(decide).toThrow(`No question of ${TASK} is pending under dates.`);
});

test('refuses a worker that has put the task to rest', () => {
  const table = givenWaitingTask();

  const { outcome } = table.run(withdraw);

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
});
