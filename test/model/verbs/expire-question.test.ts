import { expect, test } from 'vitest';
import { answer, dataOf, givenQuestion, givenWaitingTask, MINUTE, QUESTION, TASK } from '../given.ts';
import { Table } from '../table.ts';

const expire = { verb: 'expireQuestion', args: { questionId: QUESTION } } as const;

test('[Q4] expires an overdue question, and its task goes on', () => {
  const table = givenWaitingTask({ timeoutMs: MINUTE });
  table.now += MINUTE;

  const { outcome, events, resolutions } = table.run(expire);

  expect(outcome.ok).toBe(true);
  expect(dataOf(events)).toEqual([
    ['question.expired', { questionId: QUESTION, resolvedBy: null }],
    ['task.resumed', {}],
  ]);
  expect(resolutions).toMatchObject([{ key: 'dates', status: 'expired', ord: 1 }]);
  expect(table.task(TASK)).toMatchObject({ status: 'queued', pendingQuestionCount: 0 });
});

test('leaves a question alone whose time has not come, whatever the caller thinks', () => {
  const table = givenQuestion({ timeoutMs: MINUTE });
  table.now += MINUTE - 1;
  const before = table.records();

  const { outcome } = table.run(expire);

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
  expect(table.records()).toEqual(before);
});

test('leaves a question alone that never expires', () => {
  const table = givenQuestion({ timeoutMs: null });
  table.now += 1000 * MINUTE;

  const { outcome } = table.run(expire);

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
});

test('leaves an answered question answered', () => {
  const table = givenQuestion({ timeoutMs: MINUTE });
  table.run(answer('june'));
  table.now += MINUTE;

  const { outcome } = table.run(expire);

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
  expect(table.question(QUESTION).resolution).toMatchObject({ status: 'answered' });
});

test('knows no question with another id', () => {
  const { outcome } = new Table().run(expire);

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
});
