import { describe, expect, test } from 'vitest';
import type { Answers, Question } from '../../src/client/index.ts';
import { lateWords } from '../../src/web/question/late-words.ts';
import { answerLine, answerWords, resolutionNews, resolutionWords } from '../../src/web/words/resolution.ts';
import { AGREED, MONTH, NOTES, questionOf } from './question-example.ts';

const answered = questionOf({ status: 'answered', answers: { month: 'june' }, resolvedBy: 'local' });
const declined = questionOf({ status: 'declined', resolvedBy: 'local', reason: 'not now' });
const expired = questionOf({ status: 'expired' });

describe('how a question ended', () => {
  test.each<[Partial<Question>, string]>([
    [{ status: 'answered', resolvedBy: 'local' }, 'Answered by'],
    [{ status: 'declined', resolvedBy: 'local' }, 'Declined by'],
    [{ status: 'expired' }, 'Nobody answered in time'],
    [{ status: 'cancelled', reason: 'interrupted' }, 'Withdrawn, since a new message interrupted the turn'],
    [{ status: 'cancelled', reason: 'task_finished' }, 'Withdrawn, since its task ended'],
    [{ status: 'cancelled', reason: 'withdrawn' }, 'Withdrawn by the agent'],
    [{ status: 'cancelled', reason: 'cancelled' }, 'Withdrawn, since its task was cancelled'],
  ])('%o is told as %s', (change, text) => {
    const words = resolutionWords(questionOf(change));

    expect(words.text).toBe(text);
    expect(words.who).toBe(change.resolvedBy ?? null);
  });

  test('is told in the words of the options, item by item', () => {
    const items = [MONTH, { ...MONTH, id: 'others', multiple: true, header: 'Others' }, AGREED, NOTES];
    const answers = { month: 'june', others: ['may', 'winter'], agreed: false };

    expect(answerWords(questionOf({ items, status: 'answered', answers }))).toEqual([
      { id: 'month', label: 'Which month?', answer: 'June' },
      { id: 'others', label: 'Others', answer: 'May, winter' },
      { id: 'agreed', label: 'Agreed?', answer: 'No' },
      { id: 'notes', label: 'Notes', answer: null },
    ]);
    expect(answerLine(questionOf({ items, answers }))).toBe('Which month?: June; Others: May, winter; Agreed?: No');
  });

  test('is news', () => {
    expect(resolutionNews(answered)).toBe('local answered “June”');
    expect(resolutionNews(declined)).toBe('local declined to answer');
  });
});

describe('who was not the first', () => {
  test.each<[Question, Answers | null, string | null]>([
    [questionOf(), { month: 'may' }, null],
    [answered, { month: 'june' }, null],
    [answered, { month: 'june', notes: null }, null],
    [answered, { month: 'may' }, 'Somebody was quicker: local answered “June”. Your answer was not used.'],
    [answered, null, 'Somebody was quicker: local answered “June”. You did not decline it.'],
    [declined, null, null],
    [declined, { month: 'may' }, 'Somebody was quicker: local declined to answer. Your answer was not used.'],
    [expired, { month: 'may' }, 'The time to answer was over before yours arrived. Your answer was not used.'],
    [
      questionOf({ status: 'cancelled', reason: 'interrupted' }),
      { month: 'may' },
      'The question had been withdrawn before you answered. Your answer was not used.',
    ],
  ])('learns what became of it: %o %j', (question, sent, words) => {
    expect(lateWords(question, sent)).toBe(words);
  });

  test('is not told of another order of the same choices', () => {
    const question = questionOf({ status: 'answered', answers: { month: ['may', 'june'] }, resolvedBy: 'local' });

    expect(lateWords(question, { month: ['june', 'may'] })).toBeNull();
  });
});
