import { expect, test } from 'vitest';
import type { Entry, QuestionEntry } from '../../src/client/index.ts';
import { withPastQuestions } from '../../src/web/chat/past-questions.ts';
import { questionOf } from './question-example.ts';

function stepAt(minute: number): Entry {
  return {
    ...{ kind: 'activity', key: `step ${minute}`, taskId: 'task_1', name: 'fetch', tool: null, status: 'completed' },
    ...{ attempt: 1, startedAt: `2026-12-01T12:${minute}:00.000Z`, ms: 3, error: null },
  };
}

function pastOf(...minutes: number[]): Map<string, QuestionEntry> {
  const entries = minutes.map((minute): QuestionEntry => {
    const question = questionOf({ id: `qst ${minute}`, status: 'expired', askedAt: `2026-12-01T12:${minute}:00.000Z` });
    return { kind: 'question', key: question.id, question };
  });
  return new Map(entries.map((entry) => [entry.key, entry]));
}

function keys(entries: readonly Entry[]): string[] {
  return entries.map(({ key }) => key);
}

test('puts questions where they were asked', () => {
  const entries = [stepAt(10), stepAt(20), stepAt(30)];

  expect(keys(withPastQuestions(entries, pastOf(11, 12, 25, 40)))).toEqual([
    'step 10',
    'qst 11',
    'qst 12',
    'step 20',
    'qst 25',
    'step 30',
    'qst 40',
  ]);
});

test('leaves out what is from before the oldest entry, and what is there already', () => {
  const past = pastOf(5, 25);
  const entries = [stepAt(10), ...[...past.values()].slice(1)];

  expect(keys(withPastQuestions(entries, past))).toEqual(['step 10', 'qst 25']);
});

test('puts none behind what is on its way', () => {
  const outgoing: Entry = { kind: 'outgoing', key: 'out', content: 'Wait', status: 'sending', error: null };

  expect(keys(withPastQuestions([stepAt(10), outgoing], pastOf(20)))).toEqual(['step 10', 'qst 20', 'out']);
});

test('gives the same list where there is nothing to put in', () => {
  const entries = [stepAt(10)];

  expect(withPastQuestions(entries, pastOf(5))).toBe(entries);
  expect(withPastQuestions([], pastOf(5))).toEqual([]);
});
