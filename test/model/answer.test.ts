import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkAnswers, sameAnswers } from '../../src/model/answer.ts';
import type { Json } from '../../src/model/json.ts';
import type { Answers } from '../../src/model/question.ts';
import { item } from './given.ts';

type Spec = Parameters<typeof item>[0];

/** What is wrong with an answer to one item; nothing for a good one. */
function faults(spec: Spec, value: Json): string[] {
  return checkAnswers([item(spec)], { it: value }).map(({ message }) => message);
}

const CHOICE = { options: ['june', 'july'] } as Spec;
const OPEN = { options: ['june'], allowOther: true } as Spec;
const SEVERAL = { options: ['june', 'july'], multiple: true } as Spec;
const OPEN_SEVERAL = { options: ['june'], multiple: true, allowOther: true } as Spec;
const FEW = { minLength: 2, maxLength: 3 } as Spec;
const NUMBER = { type: 'number', minimum: -1, maximum: 1.5 } as Spec;
const WHOLE = { type: 'number', integer: true } as Spec;

const GOOD: [what: string, Spec, Json][] = [
  ['an option', CHOICE, 'july'],
  ['free text where others are allowed', OPEN, 'may'],
  ['empty free text', OPEN, ''],
  ['several options', SEVERAL, ['july', 'june']],
  ['[] as an answer', SEVERAL, []],
  ['options and free text together', OPEN_SEVERAL, ['june', 'may']],
  ['a text of the shortest length', FEW, 'ab'],
  ['a text of the longest length', FEW, 'abc'],
  ['an emoji for one character', FEW, '🏖️🌊'],
  ['"" as an answer', {} as Spec, ''],
  ['true', { type: 'boolean' }, true],
  ['false as an answer', { type: 'boolean' }, false],
  ['0 as an answer', NUMBER, 0],
  ['the smallest number', NUMBER, -1],
  ['the largest number', NUMBER, 1.5],
  ['a whole number', WHOLE, -3],
];

test.each(GOOD)('[Q2] takes %s', (_what, spec, value) => {
  expect(faults(spec, value)).toEqual([]);
});

const BAD: [what: string, Spec, Json, message: string][] = [
  ['what is no option', CHOICE, 'may', 'The answer must be one of "june", "july".'],
  ['an array for one choice', CHOICE, ['june'], 'The answer must be one of "june", "july".'],
  ['a number for free text', OPEN, 5, 'The answer must be a string.'],
  ['one choice for an array', SEVERAL, 'june', 'The answer must be an array of choices.'],
  ['an array with one that is no option', SEVERAL, ['june', 'may'], 'Each choice must be one of "june", "july".'],
  ['an array with a null', SEVERAL, [null], 'Each choice must be one of "june", "july".'],
  ['an array with a number for free text', OPEN_SEVERAL, ['may', 1], 'Each choice must be a string.'],
  ['the same choice twice', SEVERAL, ['june', 'june'], 'Each choice may be given only once.'],
  ['a number for a text', FEW, 12, 'The answer must be a string.'],
  ['a text that is too short', FEW, 'a', 'At least 2 characters are needed.'],
  ['an emoji for two characters', FEW, '🌊', 'At least 2 characters are needed.'],
  ['a text that is too long', FEW, 'abcd', 'At most 3 characters are allowed.'],
  ['a word for a boolean', { type: 'boolean' }, 'true', 'The answer must be true or false.'],
  ['a 0 for a boolean', { type: 'boolean' }, 0, 'The answer must be true or false.'],
  ['a string for a number', NUMBER, '1', 'The answer must be a number.'],
  ['NaN for a number', NUMBER, Number.NaN, 'The answer must be a number.'],
  ['infinity for a number', WHOLE, Number.POSITIVE_INFINITY, 'The answer must be a number.'],
  ['a number that is too small', NUMBER, -1.01, 'The answer must be at least -1.'],
  ['a number that is too large', NUMBER, 1.51, 'The answer must be at most 1.5.'],
  ['a fraction for a whole number', WHOLE, 0.5, 'The answer must be a whole number.'],
];

test.each(BAD)('refuses %s', (_what, spec, value, message) => {
  expect(faults(spec, value)).toEqual([message]);
});

test('requires an answer where nothing else is said, and takes neither null nor a missing key for one', () => {
  const missing = [{ path: '/answers/it', message: 'An answer is required.' }];

  expect(checkAnswers([item({})], { it: null })).toEqual(missing);
  expect(checkAnswers([item({})], {})).toEqual(missing);
});

test('lets an item be left out that is not required', () => {
  expect(checkAnswers([item({ required: false })], {})).toEqual([]);
  expect(checkAnswers([item({ required: false })], { it: null })).toEqual([]);
});

test('checks what was given to an item that is not required', () => {
  expect(faults({ required: false, type: 'boolean' }, 'yes')).toEqual(['The answer must be true or false.']);
});

test('[Q4] never takes the default for an answer', () => {
  expect(checkAnswers([item({ type: 'boolean', default: true })], {})).toEqual([
    { path: '/answers/it', message: 'An answer is required.' },
  ]);
});

test('names answers to items that the question does not have, by JSON Pointer', () => {
  expect(checkAnswers([item({})], { it: 'x', 'a/b~c': 1 })).toEqual([
    { path: '/answers/a~1b~0c', message: 'The question has no such item.' },
  ]);
});

test('names all that is wrong at once', () => {
  const issues = checkAnswers([item({ id: 'a' }), item({ id: 'b', type: 'boolean' })], { b: 1, c: 2 });

  expect(issues.map(({ path }) => path)).toEqual(['/answers/c', '/answers/a', '/answers/b']);
});

test('takes nothing inherited for an answer', () => {
  expect(checkAnswers([item({ id: 'toString', required: false })], {})).toEqual([]);
  expect(checkAnswers([item({ id: 'constructor' })], {})).toMatchObject([{ message: 'An answer is required.' }]);
});

const SAME: [what: string, Answers, Answers][] = [
  ['another order of the items', { a: 1, b: 2 }, { b: 2, a: 1 }],
  ['another order of the choices', { a: ['x', 'y'] }, { a: ['y', 'x'] }],
  ['a choice given twice', { a: ['x', 'x'] }, { a: ['x'] }],
  ['null for a missing key', { a: 1, b: null }, { a: 1 }],
];

test.each(SAME)('[Q9] takes answers for the same with %s', (_what, a, b) => {
  expect(sameAnswers(a, b)).toBe(true);
});

const DIFFERENT: [what: string, Answers, Answers][] = [
  ['false from not answered', { a: false }, {}],
  ['0 from not answered', { a: 0 }, { a: null }],
  ['"" from not answered', { a: '' }, {}],
  ['[] from not answered', { a: [] }, {}],
  ['0 from false', { a: 0 }, { a: false }],
  ['a number from its text', { a: 1 }, { a: '1' }],
  ['one choice from an array of it', { a: 'x' }, { a: ['x'] }],
  ['an array of a text from an array of a number', { a: ['1'] }, { a: [1] }],
  ['fewer choices from more', { a: ['x'] }, { a: ['x', 'y'] }],
  ['the same value of another item', { a: 'x' }, { b: 'x' }],
  ['upper case from lower case', { a: 'X' }, { a: 'x' }],
];

test.each(DIFFERENT)('[Q6] tells %s', (_what, a, b) => {
  expect(sameAnswers(a, b)).toBe(false);
});

const answerValue = fc.oneof(
  fc.constantFrom<Json>(null, true, false, '', 'x'),
  fc.integer({ min: 0, max: 2 }),
  fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 }),
);
const someAnswers = fc.dictionary(fc.constantFrom('a', 'b', 'c'), answerValue, { noNullPrototype: true });

/** The rule again, by hand. */
function equalByRule(a: Answers, b: Answers): boolean {
  return ['a', 'b', 'c'].every((id) => {
    const [x = null, y = null] = [a[id], b[id]];
    if (!Array.isArray(x) || !Array.isArray(y)) return x === y;
    return x.every((value) => y.includes(value)) && y.every((value) => x.includes(value));
  });
}

test('[Q9] compares any two answers without nulls and with arrays as sets', () => {
  fc.assert(
    fc.property(someAnswers, someAnswers, (a, b) => {
      expect(sameAnswers(a, b)).toBe(equalByRule(a, b));
    }),
    { seed: 6, numRuns: 500 },
  );
});
