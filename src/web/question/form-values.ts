import type { Answers, Json, QuestionItem } from '../../client/index.ts';

/** What a form holds of a choice: the options that are picked, and what was written beside them. */
export interface Choice {
  chosen: string[];
  /** Null while "something else" is not picked; it may be picked before anything is written. */
  other: string | null;
}

/** What a form holds, by item id: a {@link Choice}, the text of a text or a number, or yes or no. All of it is JSON. */
export type FormValues = { [itemId: string]: Json };

/** What is wrong, by item id. */
export type Faults = { [itemId: string]: string };

/** What a form begins with: what was kept of it, else each item's default. */
export function initialValues(items: readonly QuestionItem[], kept: FormValues): FormValues {
  return Object.fromEntries(
    items.map((item) => [item.id, Object.hasOwn(kept, item.id) ? (kept[item.id] ?? null) : defaultValue(item)]),
  );
}

export function choiceOf(value: Json | undefined): Choice {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { chosen: [], other: null };
  const { chosen, other } = value;
  return {
    chosen: Array.isArray(chosen) ? chosen.filter((each) => typeof each === 'string') : [],
    other: typeof other === 'string' ? other : null,
  };
}

export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Picks an option: the only one, or one more; one that is picked already is let go where several may be. */
export function withOption(item: Extract<QuestionItem, { type: 'choice' }>, choice: Choice, option: string): Json {
  if (!item.multiple) return { chosen: [option], other: null };
  const isChosen = choice.chosen.includes(option);
  const chosen = isChosen ? choice.chosen.filter((each) => each !== option) : [...choice.chosen, option];
  return { chosen, other: choice.other };
}

/** What the form says, as the server takes it, or what is wrong with it. What is optional and empty is left out. */
export function toAnswers(items: readonly QuestionItem[], values: FormValues): { answers: Answers; faults: Faults } {
  const answers: Answers = {};
  const faults: Faults = {};
  for (const item of items) {
    const { answer, fault } = toAnswer(item, values[item.id]);
    if (fault !== null) faults[item.id] = fault;
    else if (answer !== null) answers[item.id] = answer;
  }
  return { answers, faults };
}

function defaultValue(item: QuestionItem): Json {
  if (item.default === null) return null;
  switch (item.type) {
    case 'choice': {
      const values = Array.isArray(item.default) ? item.default : [item.default];
      const isOption = (value: string) => item.options.some((option) => option.value === value);
      const other = values.find((value) => !isOption(value)) ?? null;
      return { chosen: values.filter(isOption), other };
    }
    case 'number':
      return String(item.default);
    default:
      return item.default;
  }
}

interface Outcome {
  answer: Json;
  fault: string | null;
}

function toAnswer(item: QuestionItem, value: Json | undefined): Outcome {
  switch (item.type) {
    case 'choice':
      return toChoiceAnswer(item, choiceOf(value));
    case 'boolean':
      if (typeof value === 'boolean') return good(value);
      return item.required ? bad('Choose yes or no.') : good(null);
    case 'text':
      return toTextAnswer(item, textOf(value));
    case 'number':
      return toNumberAnswer(item, textOf(value).trim());
  }
}

function toChoiceAnswer(item: Extract<QuestionItem, { type: 'choice' }>, { chosen, other }: Choice): Outcome {
  const written = other?.trim() ?? null;
  if (written === '') return bad('Write your own answer, or choose another option.');
  const picked = item.options.map(({ value }) => value).filter((value) => chosen.includes(value));
  const all = written === null || picked.includes(written) ? picked : [...picked, written];
  // Nothing of several is an answer as well, unless it may be left open.
  if (item.multiple) return good(all.length === 0 && !item.required ? null : all);
  const [first = null] = all;
  return first === null && item.required ? bad('Choose one of these.') : good(first);
}

function toTextAnswer(item: Extract<QuestionItem, { type: 'text' }>, text: string): Outcome {
  if (text.trim() === '') return item.required ? bad('Write an answer.') : good(null);
  const length = [...text].length;
  if (item.minLength !== null && length < item.minLength) return bad(`Write at least ${item.minLength} characters.`);
  if (item.maxLength !== null && length > item.maxLength) {
    return bad(`Write at most ${item.maxLength} characters; these are ${length}.`);
  }
  return good(text);
}

function toNumberAnswer(item: Extract<QuestionItem, { type: 'number' }>, text: string): Outcome {
  if (text === '') return item.required ? bad('Enter a number.') : good(null);
  // A comma may stand for the point, and might as well part the thousands: where that cannot be told nothing is guessed.
  const isClear = PLAIN_NUMBER.test(text) && !THOUSANDS.test(text);
  const number = Number(text.replace(',', '.'));
  if (!isClear || !Number.isFinite(number)) return bad('Enter a number in plain digits, such as 4.5 or 1000.');
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) return bad('That is too large to be sent exactly.');
  if (item.integer && !Number.isInteger(number)) return bad('Enter a whole number.');
  if (item.minimum !== null && number < item.minimum) return bad(`Enter at least ${item.minimum}.`);
  if (item.maximum !== null && number > item.maximum) return bad(`Enter at most ${item.maximum}.`);
  return good(number);
}

const PLAIN_NUMBER = /^[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?$/i;
const THOUSANDS = /^[+-]?[1-9]\d{0,2},\d{3}$/;

function good(answer: Json): Outcome {
  return { answer, fault: null };
}

function bad(fault: string): Outcome {
  return { answer: null, fault };
}
