import { expect, test } from 'vitest';
import { alreadyResolved, closeQuestion, isOverdue } from '../../src/model/closing.ts';
import type { QuestionRecord } from '../../src/model/question.ts';
import { View } from '../../src/model/view.ts';
import { answer, givenWaitingTask, MONTH, QUESTION, TASK } from './given.ts';
import { NOON } from './table.ts';

const question: QuestionRecord = {
  ...{ id: QUESTION, taskId: TASK, conversationId: null, name: 'dates', items: MONTH, metadata: {} },
  ...{ askedAt: NOON, expiresAt: NOON + 1, resolution: null },
};

test('tells the resolution before it tells that the task goes on', () => {
  const table = givenWaitingTask();

  const { events } = table.run(answer('june'));

  expect(events.map(({ seq, type }) => [seq, type])).toEqual([
    [5, 'question.answered'],
    [6, 'task.resumed'],
  ]);
});

test('throws when the task of a question is not loaded, for that is a bug', () => {
  const view = new View({
    owner: 'local',
    head: 0,
    prunedSeq: 0,
    epoch: null,
    unfinishedRoots: 0,
    pendingQuestions: 0,
  });
  view.load({ questions: [question] });

  const close = () => closeQuestion(view, question, { status: 'expired', at: NOON });

  expect(close).toThrow(`The task of ${QUESTION} is not loaded.`);
});

test('throws when no row waits for a pending question, for that is a bug', () => {
  const view = new View({
    owner: 'local',
    head: 0,
    prunedSeq: 0,
    epoch: null,
    unfinishedRoots: 0,
    pendingQuestions: 0,
  });
  view.load({ tasks: [givenWaitingTask().task(TASK)], questions: [question] });

  const close = () => closeQuestion(view, question, { status: 'expired', at: NOON });

  expect(close).toThrow(`No row of ${TASK} waits for ${QUESTION}.`);
});

test('shows the resolution that came first', () => {
  const { outcome } = alreadyResolved({
    ...question,
    resolution: { status: 'cancelled', at: NOON, reason: 'withdrawn' },
  });

  expect(outcome).toMatchObject({
    ...{ code: 'question_resolved', message: 'The question is already cancelled.' },
    details: { question: { status: 'cancelled', reason: 'withdrawn' } },
  });
});

test.each([
  [NOON + 1, NOON, false],
  [NOON + 1, NOON + 1, true],
  [null, NOON, false],
])('takes a question that expires at %s for overdue at %s: %s', (expiresAt, now, overdue) => {
  expect(isOverdue({ ...question, expiresAt }, now)).toBe(overdue);
});
