import { describe, expect, test } from 'vitest';
import type { Json, QuestionItem } from '../../src/client/index.ts';
import { choiceOf, initialValues, toAnswers, withOption } from '../../src/web/question/form-values.ts';
import { AGREED, BUDGET, MONTH, NOTES } from './question-example.ts';

const SEVERAL = { ...MONTH, multiple: true };

/** What becomes of the value of the only item. */
function answerOf(item: QuestionItem, value: Json): { answer: Json | undefined; fault: string | undefined } {
  const { answers, faults } = toAnswers([item], { [item.id]: value });
  return { answer: answers[item.id], fault: faults[item.id] };
}

describe('a form begins', () => {
  test('empty', () => {
    expect(initialValues([MONTH, NOTES], {})).toEqual({ month: null, notes: null });
  });

  test.each<[QuestionItem, Json]>([
    [
      { ...MONTH, default: 'june' },
      { chosen: ['june'], other: null },
    ],
    [
      { ...MONTH, default: 'winter' },
      { chosen: [], other: 'winter' },
    ],
    [
      { ...SEVERAL, default: ['may', 'july'] },
      { chosen: ['may', 'july'], other: null },
    ],
    [{ ...AGREED, default: false }, false],
    [{ ...BUDGET, default: 0 }, '0'],
    [{ ...NOTES, default: 'none' }, 'none'],
  ])('with the default of its item: %o', (item, value) => {
    expect(initialValues([item], {})).toEqual({ [item.id]: value });
  });

  test('with what was kept of it, also where that is nothing', () => {
    const items = [{ ...MONTH, default: 'june' }, NOTES];

    expect(initialValues(items, { month: null, notes: 'late' })).toEqual({ month: null, notes: 'late' });
  });
});

describe('a choice', () => {
  test('of one takes the place of the one before', () => {
    expect(withOption(MONTH, { chosen: ['may'], other: 'never' }, 'june')).toEqual({ chosen: ['june'], other: null });
  });

  test('of several is added, and let go of when it is picked again', () => {
    const two = withOption(SEVERAL, { chosen: ['july'], other: 'winter' }, 'may');

    expect(two).toEqual({ chosen: ['july', 'may'], other: 'winter' });
    expect(withOption(SEVERAL, choiceOf(two), 'july')).toEqual({ chosen: ['may'], other: 'winter' });
  });

  test.each([null, 'june', ['june'], { chosen: 'june' }, { chosen: [1], other: 2 }])(
    'is none where something else was kept: %j',
    (kept) => {
      expect(choiceOf(kept)).toEqual({ chosen: [], other: null });
    },
  );

  test.each<[QuestionItem, Json, Json]>([
    [MONTH, { chosen: ['june'], other: null }, 'june'],
    [MONTH, { chosen: [], other: ' winter ' }, 'winter'],
    [SEVERAL, { chosen: ['july', 'may'], other: null }, ['may', 'july']],
    [SEVERAL, { chosen: ['may'], other: 'winter' }, ['may', 'winter']],
    [SEVERAL, { chosen: ['may'], other: 'may' }, ['may']],
    [SEVERAL, null, []],
  ])('is answered as the server takes it: %o %j', (item, value, answer) => {
    expect(answerOf(item, value)).toEqual({ answer, fault: undefined });
  });

  test.each<[QuestionItem, Json, string]>([
    [MONTH, null, 'Choose one of these.'],
    [MONTH, { chosen: [], other: '' }, 'Write your own answer, or choose another option.'],
    [SEVERAL, { chosen: ['may'], other: ' ' }, 'Write your own answer, or choose another option.'],
  ])('is not answered by %o %j', (item, value, fault) => {
    expect(answerOf(item, value)).toEqual({ answer: undefined, fault });
  });
});

test.each<[QuestionItem, Json, Json]>([
  [NOTES, 'late', 'late'],
  [BUDGET, ' 250 ', 250],
  [{ ...BUDGET, integer: false }, '12,5', 12.5],
  [{ ...BUDGET, minimum: null }, '0', 0],
  [AGREED, false, false],
])('%o with %j is answered with %j', (item, value, answer) => {
  expect(answerOf(item, value)).toEqual({ answer, fault: undefined });
});

test.each<[QuestionItem, Json, string]>([
  [NOTES, 'no', 'Write at least 3 characters.'],
  [NOTES, 'much too long', 'Write at most 10 characters; these are 13.'],
  [{ ...NOTES, required: true }, '  ', 'Write an answer.'],
  [BUDGET, null, 'Enter a number.'],
  [BUDGET, 'a lot', 'Enter a number in plain digits, such as 4.5 or 1000.'],
  [BUDGET, '12.5', 'Enter a whole number.'],
  [BUDGET, '9', 'Enter at least 10.'],
  [BUDGET, '501', 'Enter at most 500.'],
  [AGREED, null, 'Choose yes or no.'],
])('%o is not answered by %j', (item, value, fault) => {
  expect(answerOf(item, value)).toEqual({ answer: undefined, fault });
});

test.each<QuestionItem>([
  { ...MONTH, required: false },
  { ...SEVERAL, required: false },
  NOTES,
  { ...BUDGET, required: false },
  { ...AGREED, required: false },
])('%o is left out while nothing is in it', (item) => {
  expect(answerOf(item, null)).toEqual({ answer: undefined, fault: undefined });
});

test('counts characters as people do', () => {
  expect(answerOf({ ...NOTES, maxLength: 3 }, '🌊🌊🌊').fault).toBeUndefined();
});

describe('a number', () => {
  test.each([
    ['4.5', 4.5],
    ['4,5', 4.5],
    ['-1e3', -1000],
    ['0,125', 0.125],
  ])('%j is %d', (text, answer) => {
    expect(answerOf({ ...BUDGET, integer: false, minimum: null, maximum: null }, text)).toEqual({
      answer,
      fault: undefined,
    });
  });

  test.each(['1,000', '0x10', '1e999', '12345678901234567890', '1 000', 'Infinity'])('%j is not guessed at', (text) => {
    const { answer, fault } = answerOf({ ...BUDGET, integer: false, minimum: null, maximum: null }, text);

    expect({ answer, fault }).toEqual({ answer: undefined, fault: expect.stringMatching(/digits|too large/) });
  });
});
