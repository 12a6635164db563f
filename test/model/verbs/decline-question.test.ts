import { expect, test } from 'vitest';
import { answer, dataOf, decline, givenQuestion, givenWaitingTask, MINUTE, QUESTION, TASK } from '../given.ts';
import { Table } from '../table.ts';

test('resolves a pending question without an answer, and wakes its task', () => {
  const table = givenWaitingTask();

  const { outcome, events, resolutions } = table.run(decline('not now', 'ann'));

  expect(outcome).toMatchObject({ ok: true, replayed: false });
  expect(table.question(QUESTION).resolution).toMatchObject({
    status: 'declined',
    reason: 'not now',
    resolvedBy: 'ann',
  });
  expect(dataOf(events)).toEqual([
    ['question.declined', { questionId: QUESTION, reason: 'not now', resolvedBy: 'ann' }],
    ['task.resumed', {}],
  ]);
  const value = '{"status":"declined","reason":"not now"}';
  expect(resolutions).toMatchObject([{ key: 'dates', status: 'declined', value }]);
  expect(table.task(TASK)).toMatchObject({ status: 'queued', pendingQuestionCount: 0 });
});

test('[Q9] takes declining again for a repetition, whatever the reason', () => {
  const table = givenQuestion();
  table.run(decline('not now'));
  const before = table.records();

  const { outcome } = table.run(decline('never'));

  expect(outcome).toMatchObject({
    ok: true,
    replayed: true,
    result: { question: { resolution: { reason: 'not now' } } },
  });
  expect(table.records()).toEqual(before);
});

test('[Q6] loses against an answer', () => {
  const table = givenQuestion();
  table.run(answer('june'));

  const { outcome } = table.run(decline());

  expect(outcome).toMatchObject({
    ...{ ok: false, code: 'question_resolved', message: 'The question is already answered.' },
    details: { question: { answers: { month: 'june' } } },
  });
});

test('[Q4] comes too late at the deadline, and expires the question', () => {
  const table = givenQuestion({ timeoutMs: MINUTE });
  table.now += MINUTE;

  const { outcome } = table.run(decline());

  expect(outcome).toMatchObject({ ok: false, code: 'question_resolved', details: { question: { status: 'expired' } } });
  expect(table.question(QUESTION).resolution).toEqual({ status: 'expired', at: table.now });
});

test('knows no question with another id', () => {
  const { outcome } = new Table().run(decline());

  expect(outcome).toMatchObject({ ok: false, code: 'not_found' });
});
