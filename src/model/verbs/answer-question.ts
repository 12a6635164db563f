import { checkAnswers, sameAnswers } from '../answer.ts';
import { alreadyResolved, closeExpired, closeQuestion, isOverdue } from '../closing.ts';
import type { Json } from '../json.ts';
import type { Answers, QuestionRecord } from '../question.ts';
import { type QuestionResult, refuse, repeat, type Verb } from '../verb.ts';

export interface AnswerQuestionArgs {
  questionId: string;
  /** Either by item, or one value for a question that has one item. */
  given: { answers: Answers } | { answer: Json };
  resolvedBy: string;
}

/** Resolves a pending question. First answer wins; the same answers again are a repetition. @see docs/protocol.md §6 */
export const answerQuestion: Verb<AnswerQuestionArgs, QuestionResult> = {
  needs: ({ questionId }) => ({ questions: [questionId] }),
  decide(view, { questionId, given, resolvedBy }, now) {
    const question = view.question(questionId);
    if (question === null) return refuse('not_found', 'There is no such question.');
    const answers = byItem(question, given);
    const { resolution } = question;
    if (resolution !== null) {
      const same = answers !== null && resolution.status === 'answered' && sameAnswers(resolution.answers, answers);
      return same ? repeat({ question }) : alreadyResolved(question);
    }
    if (isOverdue(question, now)) return closeExpired(view, question, now);
    if (answers === null) {
      const path = '/answer';
      return refuse('invalid_answer', 'The question has several items: send `answers`, by item.', {
        errors: [{ path, message: 'Only for a question with one item.' }],
      });
    }
    const errors = checkAnswers(question.items, answers);
    if (errors.length > 0) return refuse('invalid_answer', 'The answer breaks the rules of the question.', { errors });
    return closeQuestion(view, question, { status: 'answered', at: now, answers, resolvedBy });
  },
};

function byItem(question: QuestionRecord, given: AnswerQuestionArgs['given']): Answers | null {
  if ('answers' in given) return given.answers;
  const [item, second] = question.items;
  return item === undefined || second !== undefined ? null : { [item.id]: given.answer };
}
