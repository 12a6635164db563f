import { expect, test } from 'vitest';
import { toQuestion } from '../../../src/model/question.ts';
import {
  answer,
  askArgs,
  dataOf,
  givenQuestion,
  givenRunningTask,
  givenWaitingTask,
  MINUTE,
  QUESTION,
  TASK,
} from '../given.ts';
import { NOON } from '../table.ts';

test('[Q4] opens a question that expires 15 minutes after the asking', () => {
  const table = givenRunningTask();

  const { outcome, dueAt } = table.run({ verb: 'askQuestion', args: askArgs({ timeoutMs: 15 * MINUTE }) });

  expect(outcome).toMatchObject({ ok: true, result: { question: table.question(QUESTION) } });
  expect(table.question(QUESTION)).toMatchObject({ taskId: TASK, askedAt: NOON, expiresAt: NOON + 15 * MINUTE });
  expect(dueAt).toBe(NOON + 15 * MINUTE);
});

test('opens a question that never expires', () => {
  const table = givenRunningTask();

  const { dueAt } = table.run({ verb: 'askQuestion', args: askArgs({ timeoutMs: null }) });

  expect(table.question(QUESTION).expiresAt).toBeNull();
  expect(dueAt).toBe(table.task(TASK).deadlineAt);
});

test('[Q2] tells the whole question, as it is pending', () => {
  const table = givenRunningTask();

  const { events } = table.run({ verb: 'askQuestion', args: askArgs({ metadata: { panel: 'dates' } }) });

  expect(dataOf(events)).toEqual([['question.asked', { question: toQuestion(table.question(QUESTION)) }]]);
});

test('counts the questions that are pending', () => {
  const table = givenQuestion();

  table.run({ verb: 'askQuestion', args: askArgs({ questionId: 'qst_b', key: 'dates#2' }) });

  expect(table.task(TASK).pendingQuestionCount).toBe(2);
});

test('never opens a resolved question again', () => {
  const table = givenQuestion();
  table.run(answer('june'));
  const before = table.records();

  const { outcome } = table.run({ verb: 'askQuestion', args: askArgs() });

  expect(outcome).toMatchObject({ ok: false, code: 'internal' });
  expect(table.records()).toEqual(before);
});

test('journals the question, with the deliveries before it', () => {
  const table = givenRunningTask();

  const { resolutions } = table.run({ verb: 'askQuestion', args: askArgs({ askedAt: 3 }) });

  expect(resolutions).toEqual([]);
  expect(table.journal(TASK)).toEqual([
    {
      ...{ taskId: TASK, key: 'dates', kind: 'ask', status: 'pending', value: null, askedAt: 3 },
      ...{ ord: null, emitsDone: null, at: null, tries: 0, once: false, dueAt: null, message: null },
    },
  ]);
});

test('fails loudly at a key that is taken', () => {
  const table = givenQuestion();

  const again = () => table.run({ verb: 'askQuestion', args: askArgs({ questionId: 'qst_b' }) });

  expect(again).toThrow(`There is a row under dates of ${TASK} already.`);
});

test('refuses a worker that has put the task to rest', () => {
  const table = givenWaitingTask();

  const { outcome } = table.run({ verb: 'askQuestion', args: askArgs({ questionId: 'qst_b', key: 'more' }) });

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
});
