import { expect, test } from 'vitest';
import { answer, askArgs, dataOf, givenQuestion, givenWaitingTask, lease, MINUTE, QUESTION, TASK } from '../given.ts';

const withdraw = { verb: 'withdrawQuestion', args: { ...lease(), key: 'dates' } } as const;

test('cancels the pending question of that key and no other', () => {
  const table = givenQuestion();
  table.run({ verb: 'askQuestion', args: askArgs({ questionId: 'qst_b', key: 'dates#2' }) });

  const { outcome, events, resolutions } = table.run(withdraw);

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(dataOf(events)).toEqual([
    ['question.cancelled', { questionId: QUESTION, reason: 'withdrawn', resolvedBy: null }],
  ]);
  expect(resolutions).toMatchObject([{ key: 'dates', outcome: { status: 'withdrawn' } }]);
  expect(table.question('qst_b').resolution).toBeNull();
  expect(table.task(TASK).pendingQuestionCount).toBe(1);
});

test('expires an overdue question rather than take it back', () => {
  const table = givenQuestion({ timeoutMs: MINUTE });
  table.now += MINUTE;

  const { outcome, resolutions } = table.run(withdraw);

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(table.question(QUESTION).resolution).toEqual({ status: 'expired', at: table.now });
  expect(resolutions).toMatchObject([{ outcome: { status: 'expired' } }]);
});

test('leaves an answer that came first as it is', () => {
  const table = givenQuestion();
  table.run(answer('june'));
  const before = table.records();

  const { outcome } = table.run(withdraw);

  expect(outcome.ok).toBe(true);
  expect(table.records()).toEqual(before);
});

test('refuses a worker that has put the task to rest', () => {
  const table = givenWaitingTask();

  const { outcome } = table.run(withdraw);

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
});
