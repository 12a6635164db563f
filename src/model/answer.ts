import type { Issue } from './error.ts';
import { canonicalJson, type Json } from './json.ts';
import type { Answers } from './question.ts';
import type { QuestionItem } from './question-item.ts';

/**
 * Checks answers against the items' rules. `false`, `0`, `""` and `[]` are answers; `null` and a missing key are
 * "not answered", allowed only where the item is not required.
 *
 * @returns one issue for each thing wrong, none when the answers are good
 * @see docs/protocol.md §6
 */
export function checkAnswers(items: readonly QuestionItem[], answers: Answers): Issue[] {
  const issues: Issue[] = [];
  for (const id of Object.keys(answers)) {
    if (!items.some((item) => item.id === id))
      issues.push({ path: pointer(id), message: 'The question has no such item.' });
  }
  for (const item of items) {
    const message = checkAnswer(item, Object.hasOwn(answers, item.id) ? (answers[item.id] ?? null) : null);
    if (message !== null) issues.push({ path: pointer(item.id), message });
  }
  return issues;
}

/** Whether two answers say the same: compared without `null`s, arrays as sets. */
export function sameAnswers(a: Answers, b: Answers): boolean {
  return canonicalJson(comparable(a)) === canonicalJson(comparable(b));
}

/** @returns what is wrong with one item's answer; null when it is good */
export function checkAnswer(item: QuestionItem, value: Json): string | null {
  if (value === null) return item.required ? 'An answer is required.' : null;
  switch (item.type) {
    case 'choice':
      return checkChoice(item, value);
    case 'text': {
      if (typeof value !== 'string') return 'The answer must be a string.';
      const length = [...value].length;
      if (item.minLength !== null && length < item.minLength)
        return `At least ${item.minLength} characters are needed.`;
      if (item.maxLength !== null && length > item.maxLength)
        return `At most ${item.maxLength} characters are allowed.`;
      return null;
    }
    case 'boolean':
      return typeof value === 'boolean' ? null : 'The answer must be true or false.';
    case 'number': {
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'The answer must be a number.';
      if (item.integer && !Number.isInteger(value)) return 'The answer must be a whole number.';
      if (item.minimum !== null && value < item.minimum) return `The answer must be at least ${item.minimum}.`;
      if (item.maximum !== null && value > item.maximum) return `The answer must be at most ${item.maximum}.`;
      return null;
    }
  }
}

function checkChoice(item: Extract<QuestionItem, { type: 'choice' }>, value: Json): string | null {
  const allowed = (choice: Json) =>
    typeof choice === 'string' && (item.allowOther || item.options.some((option) => option.value === choice));
  const known = item.options.map((option) => JSON.stringify(option.value)).join(', ');
  const rule = item.allowOther ? 'a string' : `one of ${known}`;
  if (!item.multiple) return allowed(value) ? null : `The answer must be ${rule}.`;
  if (!Array.isArray(value)) return 'The answer must be an array of choices.';
  if (!value.every(allowed)) return `Each choice must be ${rule}.`;
  return new Set(value).size === value.length ? null : 'Each choice may be given only once.';
}

function comparable(answers: Answers): Answers {
  const entries = Object.entries(answers).filter(([, value]) => value !== null);
  return Object.fromEntries(entries.map(([id, value]) => [id, Array.isArray(value) ? asSet(value) : value]));
}

function asSet(values: Json[]): Json[] {
  return [...new Set(values.map((value) => canonicalJson(value)))].sort();
}

function pointer(itemId: string): string {
  return `/answers/${itemId.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
