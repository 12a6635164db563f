import { closeQuestion, isOverdue } from '../closing.ts';
import { heldTask, type Lease, leaseLost } from '../fence.ts';
import { accept, type Verb } from '../verb.ts';

export interface WithdrawQuestionArgs extends Lease {
  /** The key under which the agent asked. */
  key: string;
}

/** Takes a question back whose `signal` the agent has aborted. One that is resolved already stays as it is. */
export const withdrawQuestion: Verb<WithdrawQuestionArgs, null> = {
  needs: ({ taskId }) => ({ trees: [taskId] }),
  decide(view, args, now) {
    if (heldTask(view, args) === null) return leaseLost(args);
    const question = view.pendingQuestions(args.taskId).find(({ name }) => name === args.key);
    if (question === undefined) return accept(null);
    const closed = isOverdue(question, now)
      ? closeQuestion(view, question, { status: 'expired', at: now })
      : closeQuestion(view, question, { status: 'cancelled', at: now, reason: 'withdrawn' });
    return { ...closed, outcome: accept(null).outcome };
  },
};
