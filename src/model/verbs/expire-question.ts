import { closeQuestion, isOverdue } from '../closing.ts';
import { type QuestionResult, refuse, type Verb } from '../verb.ts';

export interface ExpireQuestionArgs {
  questionId: string;
}

/** Makes an overdue question expire where nobody writes to it. The store's clock decides, not the caller's timer. */
export const expireQuestion: Verb<ExpireQuestionArgs, QuestionResult> = {
  needs: ({ questionId }) => ({ questions: [questionId] }),
  decide(view, { questionId }, now) {
    const question = view.question(questionId);
    if (question === null || question.resolution !== null || !isOverdue(question, now)) {
      return refuse('not_due', `${questionId} is not overdue.`);
    }
    return closeQuestion(view, question, { status: 'expired', at: now });
  },
};
