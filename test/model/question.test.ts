import { expect, test } from 'vitest';
import { type QuestionRecord, questionSchema, type Resolution, toQuestion } from '../../src/model/question.ts';
import { type ItemSpec, MAX_ITEMS, normalizeItems } from '../../src/model/question-spec.ts';
import { item, MONTH, QUESTION, TASK } from './given.ts';
import { NOON } from './table.ts';

/** What an agent in plain JavaScript may write. */
const normalize = (...specs: unknown[]) => normalizeItems(specs as ItemSpec[]);
const text = (id: string) => ({ id, prompt: 'What?' });

test('[Q2] fills in the defaults of a choice', () => {
  expect(normalize({ id: 'month', prompt: 'Which month?', options: ['june', { label: 'July' }] })).toEqual([
    {
      ...{ id: 'month', prompt: 'Which month?', header: null, required: true, default: null },
      ...{ type: 'choice', multiple: false, allowOther: false },
      options: [
        { value: 'june', label: 'june' },
        { value: 'July', label: 'July' },
      ],
    },
  ]);
});

test('takes an item without a type and without options for text', () => {
  expect(normalize({ id: 'name', prompt: 'Who?' })).toEqual([
    {
      ...{ id: 'name', prompt: 'Who?', header: null, required: true, default: null },
      ...{ type: 'text', minLength: null, maxLength: null },
    },
  ]);
});

test('fills in the defaults of a boolean and a number', () => {
  expect(normalize({ ...text('ok'), type: 'boolean' }, { ...text('n'), type: 'number' })).toEqual([
    { ...text('ok'), header: null, required: true, default: null, type: 'boolean' },
    {
      ...{ ...text('n'), header: null, required: true, default: null },
      ...{ type: 'number', minimum: null, maximum: null, integer: false },
    },
  ]);
});

test('keeps all that was written', () => {
  const written = {
    ...{ id: 'month', prompt: 'Which month?', header: 'Month', type: 'choice', required: false },
    ...{ multiple: true, allowOther: true, default: ['june'] },
    options: [{ value: 'june', label: 'June', description: 'cheapest' }],
  };

  expect(normalize(written)).toEqual([written]);
});

test('takes undefined for not written', () => {
  const loose = { header: undefined, required: undefined, type: undefined, default: undefined };
  const option = { value: undefined, label: 'June', description: undefined };

  expect(normalize({ ...text('a'), ...loose, options: undefined })).toEqual(normalize(text('a')));
  expect(normalize({ ...text('b'), ...loose, options: [option] })).toStrictEqual(
    normalize({ ...text('b'), options: [{ label: 'June' }] }),
  );
});

test.each([0, MAX_ITEMS + 1])('refuses %i items', (count) => {
  const specs = Array.from({ length: count }, (_, at) => text(`i${at}`));

  expect(() => normalize(...specs)).toThrow(new TypeError('A question has 1 to 20 items.'));
});

test('takes 20 items', () => {
  expect(normalize(...Array.from({ length: MAX_ITEMS }, (_, at) => text(`i${at}`)))).toHaveLength(20);
});

test('refuses items that are no array', () => {
  expect(() => normalizeItems('month' as unknown as ItemSpec[])).toThrow('A question has 1 to 20 items.');
});

const REFUSED: [rule: string, spec: unknown, message: RegExp | string][] = [
  ['null for an item', null, /^Item 0: Invalid input/],
  ['a string for an item', 'month', /^Item 0: Invalid input/],
  ['an unknown type', { ...text('a'), type: 'date' }, /^Item 0: type: Invalid/],
  ['a missing prompt', { id: 'a' }, /^Item 0: prompt: /],
  ['an empty prompt', { id: 'a', prompt: '' }, /^Item 0: prompt: /],
  ['an id with a slash', { id: 'a/b', prompt: 'What?' }, /^Item 0: id: /],
  ['an unknown field', { ...text('a'), hint: 'x' }, 'Item 0: Unrecognized key: "hint"'],
  ['a choice without options', { ...text('a'), type: 'choice' }, /^Item 0: options: /],
  ['a choice of nothing', { ...text('a'), options: [] }, /^Item 0: options: /],
  ['options that are no array', { ...text('a'), options: 'june' }, /^Item 0: options: /],
  ['null for an option', { ...text('a'), options: [null] }, /^Item 0: options: 0: /],
  ['an option without a label', { ...text('a'), options: [{ value: 'x' }] }, /^Item 0: options: 0: label: /],
  ['options of a text', { ...text('a'), type: 'text', options: ['x'] }, 'Item 0: Unrecognized key: "options"'],
  ['a default of the wrong type', { ...text('a'), type: 'boolean', default: 'yes' }, /^Item 0: default: /],
  ['NaN for a bound', { ...text('a'), type: 'number', minimum: Number.NaN }, /^Item 0: minimum: /],
  ['infinity for a bound', { ...text('a'), type: 'number', maximum: Number.POSITIVE_INFINITY }, /^Item 0: maximum: /],
  ['half a character', { ...text('a'), minLength: 0.5 }, /^Item 0: minLength: /],
  ['a negative length', { ...text('a'), maxLength: -1 }, /^Item 0: maxLength: /],
  [
    'a value that is there twice',
    { ...text('a'), options: ['x', { value: 'x', label: 'Y' }] },
    'Item 0: the option "x" is there twice.',
  ],
  ['minLength above maxLength', { ...text('a'), minLength: 3, maxLength: 2 }, 'Item 0: minLength is above maxLength.'],
  [
    'minimum above maximum',
    { ...text('a'), type: 'number', minimum: 3, maximum: 2 },
    'Item 0: minimum is above maximum.',
  ],
  [
    'a default that is no option',
    { ...text('a'), options: ['x'], default: 'y' },
    'Item 0: default: The answer must be one of "x".',
  ],
  [
    'one default for several choices',
    { ...text('a'), options: ['x'], multiple: true, default: 'x' },
    'Item 0: default: The answer must be an array of choices.',
  ],
  [
    'a default that is too short',
    { ...text('a'), minLength: 2, default: 'x' },
    'Item 0: default: At least 2 characters are needed.',
  ],
];

test.each(REFUSED)('refuses %s', (_rule, spec, message) => {
  expect(() => normalize(spec)).toThrow(TypeError);
  expect(() => normalize(spec)).toThrow(message);
});

test('refuses two items with the same id, and names the second', () => {
  expect(() => normalize(text('a'), text('a'))).toThrow('Item 1: the id "a" is used twice.');
});

test('names every rule that an item breaks', () => {
  expect(() => normalize({ id: 'a', prompt: '', header: 5 })).toThrow(/^Item 0: prompt: .+; header: /);
});

test.each([
  ['one length', { minLength: 2, maxLength: 2 }],
  ['only a shortest', { minLength: 5 }],
  ['only a longest', { maxLength: 5 }],
  ['a default of false', { type: 'boolean', default: false }],
  ['a default of 0', { type: 'number', minimum: 0, maximum: 0, default: 0 }],
  ['an empty default', { default: '' }],
  ['a default that is another than the options', { options: ['x'], allowOther: true, default: 'y' }],
  ['a default of no choice at all', { options: ['x'], multiple: true, default: [] }],
])('allows %s', (_what, spec) => {
  const written = spec as Parameters<typeof item>[0];

  expect(item(written)).toMatchObject('options' in spec ? { default: spec.default } : spec);
});

const pending: QuestionRecord = {
  ...{ id: QUESTION, taskId: TASK, conversationId: null, name: 'dates', items: MONTH, metadata: { panel: 1 } },
  ...{ askedAt: NOON, expiresAt: NOON + 1000, resolution: null },
};

test('[Q2] shows clients a pending question with its text, options and metadata', () => {
  const question = toQuestion(pending);

  expect(questionSchema.strict().parse(question)).toEqual(question);
  expect(question).toEqual({
    ...{ id: QUESTION, taskId: TASK, conversationId: null, name: 'dates', status: 'pending', items: MONTH },
    ...{ metadata: { panel: 1 }, answers: null, resolvedBy: null, reason: null },
    ...{ askedAt: '2026-01-01T12:00:00.000Z', expiresAt: '2026-01-01T12:00:01.000Z', resolvedAt: null },
  });
});

test('shows clients that a question never expires', () => {
  expect(toQuestion({ ...pending, expiresAt: null }).expiresAt).toBeNull();
});

const RESOLUTIONS: [Resolution, object][] = [
  [
    { status: 'answered', at: NOON, answers: { month: 'june' }, resolvedBy: 'ann' },
    { answers: { month: 'june' }, resolvedBy: 'ann', reason: null },
  ],
  [
    { status: 'declined', at: NOON, reason: 'later', resolvedBy: 'ann' },
    { answers: null, resolvedBy: 'ann', reason: 'later' },
  ],
  [
    { status: 'expired', at: NOON },
    { answers: null, resolvedBy: null, reason: null },
  ],
  [
    { status: 'cancelled', at: NOON, reason: 'withdrawn' },
    { answers: null, resolvedBy: null, reason: 'withdrawn' },
  ],
];

test.each(RESOLUTIONS)('shows clients how a question came to its end: $status', (resolution, shown) => {
  const question = toQuestion({ ...pending, resolution });

  expect(question).toMatchObject({ ...shown, status: resolution.status, resolvedAt: '2026-01-01T12:00:00.000Z' });
});
