import { alreadyResolved, closeExpired, closeQuestion, isOverdue } from '../closing.ts';
import { type QuestionResult, refuse, repeat, type Verb } from '../verb.ts';

export interface DeclineQuestionArgs {
  questionId: string;
  reason: string | null;
  resolvedBy: string;
}

/** Resolves a pending question without an answer. Declining again is a repetition. @see docs/protocol.md §6 */
export const declineQuestion: Verb<DeclineQuestionArgs, QuestionResult> = {
  needs: ({ questionId }) => ({ questions: [questionId] }),
  decide(view, { questionId, reason, resolvedBy }, now) {
    const question = view.question(questionId);
    if (question === null) return refuse('not_found', 'There is no such question.');
    if (question.resolution?.status === 'declined') return repeat({ question });
    if (question.resolution !== null) return alreadyResolved(question);
    if (isOverdue(question, now)) return closeExpired(view, question, now);
    return closeQuestion(view, question, { status: 'declined', at: now, reason, resolvedBy });
  },
};
