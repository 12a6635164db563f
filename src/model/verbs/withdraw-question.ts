import type { Reply } from '../agent.ts';
import { closeQuestion, isOverdue } from '../closing.ts';
import { type Lease, refuseWork, workingTask } from '../fence.ts';
import { acceptResolved, resolveRow } from '../resolving.ts';
import { newRow, rowOf } from '../row.ts';
import { accept, type Verb } from '../verb.ts';

export interface WithdrawQuestionArgs extends Lease {
  /** The key under which the agent asked. */
  key: string;
  askedAt: number;
}

const WITHDRAWN: Reply = { status: 'withdrawn' };

/**
 * Takes a question back whose `signal` the agent has aborted. One that is resolved already stays as it is; one that was
 * aborted before it was asked is never shown to anyone.
 */
export const withdrawQuestion: Verb<WithdrawQuestionArgs, null> = {
  needs: ({ taskId, key }) => ({ pending: [taskId], rows: [{ taskId, key }] }),
  decide(view, args, now) {
    const task = workingTask(view, args);
    if (task === null) return refuseWork(view, args);
    const row = rowOf(view, args, 'ask');
    if (row === null) {
      const opened = newRow(args, { kind: 'ask', askedAt: args.askedAt });
      return acceptResolved(resolveRow(task, opened, { status: 'withdrawn', value: JSON.stringify(WITHDRAWN) }, now));
    }
    if (row.status !== 'pending') return accept(null);
    const question = view.pendingQuestions(task.id).find(({ name }) => name === args.key);
    if (question === undefined) throw new Error(`No question of ${task.id} is pending under ${args.key}.`);
    const closed = isOverdue(question, now)
      ? closeQuestion(view, question, { status: 'expired', at: now })
      : closeQuestion(view, question, { status: 'cancelled', at: now, reason: 'withdrawn' });
    return { ...closed, outcome: accept(null).outcome };
  },
};
