import { expect, test } from 'vitest';
import { toQuestion } from '../../../src/model/question.ts';
import { normalizeItems } from '../../../src/model/question-spec.ts';
import {
  answer,
  cancel,
  dataOf,
  decline,
  givenQuestion,
  givenWaitingTask,
  MINUTE,
  QUESTION,
  TASK,
  typesOf,
} from '../given.ts';
import { NOON, Table } from '../table.ts';

const TWO_ITEMS = normalizeItems([
  { id: 'month', prompt: 'Which month?', options: ['june', 'july'] },
  { id: 'note', prompt: 'Anything else?', required: false },
]);

test('[Q1] resolves a pending question and wakes the task that waits for it, in one transaction', () => {
  const table = givenWaitingTask();
  table.now += MINUTE;

  const { outcome, events } = table.run(answer('june', 'ann'));

  const resolution = { status: 'answered', at: NOON + MINUTE, answers: { month: 'june' }, resolvedBy: 'ann' };
  expect(outcome).toMatchObject({ ok: true, replayed: false, result: { question: { resolution } } });
  expect(table.question(QUESTION).resolution).toEqual(resolution);
  expect(dataOf(events)).toEqual([
    ['question.answered', { questionId: QUESTION, answers: { month: 'june' }, resolvedBy: 'ann' }],
    ['task.resumed', {}],
  ]);
  expect(table.task(TASK)).toMatchObject({ status: 'queued', pendingQuestionCount: 0 });
});

test('leaves a running task running', () => {
  const table = givenQuestion();

  const { events } = table.run(answer('june'));

  expect(typesOf(events)).toEqual(['question.answered']);
  expect(table.task(TASK)).toMatchObject({ status: 'running', pendingQuestionCount: 0 });
});

test('tells the running copy what it asked for', () => {
  const table = givenQuestion({ key: 'dates#2' });

  const { resolutions } = table.run(answer('june', 'ann'));

  const value = '{"status":"answered","answers":{"month":"june"},"resolvedBy":"ann"}';
  const told = { status: 'answered', value, ord: 1, emitsDone: 0, at: NOON };
  expect(resolutions).toEqual([{ taskId: TASK, key: 'dates#2', ...told, call: 0 }]);
  expect(table.row(TASK, 'dates#2')).toMatchObject({ kind: 'ask', ...told });
});

test('takes the answers by item', () => {
  const table = givenQuestion({ items: TWO_ITEMS });
  const given = { answers: { month: 'july', note: null } };

  table.run({ verb: 'answerQuestion', args: { questionId: QUESTION, given, resolvedBy: 'ann' } });

  expect(table.question(QUESTION).resolution).toMatchObject({ answers: { month: 'july', note: null } });
});

test('[Q6] lets the first answer win and shows it to the second', () => {
  const table = givenQuestion();
  table.run(answer('june', 'ann'));
  const before = table.records();

  const { outcome } = table.run(answer('july', 'bob'));

  const question = toQuestion(table.question(QUESTION));
  expect(question).toMatchObject({ answers: { month: 'june' }, resolvedBy: 'ann' });
  expect(outcome).toMatchObject({ ok: false, code: 'question_resolved', details: { question } });
  expect(table.records()).toEqual(before);
});

test('[Q6] settles two answers of one batch in their order', () => {
  const table = givenQuestion();

  const { outcomes } = table.commit([answer('june'), answer('july')]);

  expect(outcomes).toMatchObject([{ ok: true }, { ok: false, code: 'question_resolved' }]);
});

test('[Q9] takes the same answer again for a repetition, whoever sends it', () => {
  const table = givenQuestion();
  table.run(answer('june', 'ann'));
  const before = table.records();

  const { outcome } = table.run(answer('june', 'bob'));

  expect(outcome).toMatchObject({
    ok: true,
    replayed: true,
    result: { question: { resolution: { resolvedBy: 'ann' } } },
  });
  expect(table.records()).toEqual(before);
});

test('[Q9] takes the same answer again for a repetition after the deadline too', () => {
  const table = givenQuestion({ timeoutMs: MINUTE });
  table.run(answer('june'));
  table.now += 2 * MINUTE;

  const { outcome } = table.run(answer('june'));

  expect(outcome).toMatchObject({ ok: true, replayed: true });
});

test('accepts an answer in the last millisecond', () => {
  const table = givenQuestion({ timeoutMs: MINUTE });
  table.now += MINUTE - 1;

  const { outcome } = table.run(answer('june'));

  expect(outcome.ok).toBe(true);
});

test('[Q4] refuses an answer at the deadline even when the sweeper is late, and expires the question', () => {
  const table = givenWaitingTask({ timeoutMs: MINUTE });
  table.now += MINUTE;

  const { outcome, events, resolutions } = table.run(answer('june'));

  const question = toQuestion(table.question(QUESTION));
  expect(question.status).toBe('expired');
  expect(outcome).toMatchObject({ ok: false, code: 'question_resolved', details: { question } });
  expect(dataOf(events)).toEqual([
    ['question.expired', { questionId: QUESTION, resolvedBy: null }],
    ['task.resumed', {}],
  ]);
  expect(resolutions).toMatchObject([{ key: 'dates', status: 'expired', value: '{"status":"expired"}' }]);
});

test('says that the question expired even to an answer that would be invalid', () => {
  const table = givenQuestion({ timeoutMs: MINUTE });
  table.now += MINUTE;

  const { outcome } = table.run(answer('may'));

  expect(outcome).toMatchObject({ ok: false, code: 'question_resolved' });
});

test.each([
  ['declined', decline()],
  ['cancelled', cancel],
])('refuses an answer to a %s question', (status, call) => {
  const table = givenQuestion();
  table.run(call);

  const { outcome } = table.run(answer('june'));

  expect(outcome).toMatchObject({ ok: false, code: 'question_resolved', details: { question: { status } } });
});

test('leaves the question pending after an invalid answer', () => {
  const table = givenWaitingTask();
  const before = table.records();

  const { outcome } = table.run(answer('may'));

  const errors = [{ path: '/answers/month', message: 'The answer must be one of "june", "july".' }];
  expect(outcome).toMatchObject({ ok: false, code: 'invalid_answer', details: { errors } });
  expect(table.records()).toEqual(before);
});

test('refuses one bare answer to a question of several items, and leaves it pending', () => {
  const table = givenQuestion({ items: TWO_ITEMS });
  const before = table.records();

  const { outcome } = table.run(answer('june'));

  const errors = [{ path: '/answer', message: 'Only for a question with one item.' }];
  expect(outcome).toMatchObject({ ok: false, code: 'invalid_answer', details: { errors } });
  expect(table.records()).toEqual(before);
});

test('refuses a bare answer to a resolved question of several items', () => {
  const table = givenQuestion({ items: TWO_ITEMS });
  const given = { answers: { month: 'june' } };
  table.run({ verb: 'answerQuestion', args: { questionId: QUESTION, given, resolvedBy: 'ann' } });

  const { outcome } = table.run(answer('june'));

  expect(outcome).toMatchObject({ ok: false, code: 'question_resolved' });
});

test('knows no question with another id', () => {
  const { outcome } = new Table().run(answer('june'));

  expect(outcome).toMatchObject({ ok: false, code: 'not_found' });
});
