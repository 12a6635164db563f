import { newEvent } from '../event.ts';
import { heldTask, type Lease, leaseLost } from '../fence.ts';
import type { JsonObject } from '../json.ts';
import { type QuestionRecord, toQuestion } from '../question.ts';
import type { QuestionItem } from '../question-item.ts';
import { mustBeFree, newRow } from '../row.ts';
import { accept, type QuestionResult, refuse, type Verb } from '../verb.ts';

export interface AskQuestionArgs extends Lease {
  questionId: string;
  /** The key under which the agent asks. */
  key: string;
  askedAt: number;
  items: QuestionItem[];
  metadata: JsonObject;
  /** How long it stays open, from now; null never expires. */
  timeoutMs: number | null;
}

/** Opens a question of a running task. @see docs/protocol.md §6 */
export const askQuestion: Verb<AskQuestionArgs, QuestionResult> = {
  needs: ({ taskId, key, questionId }) => ({ tasks: [taskId], questions: [questionId], rows: [{ taskId, key }] }),
  decide(view, args, now) {
    const task = heldTask(view, args);
    if (task === null) return leaseLost(args);
    if (view.question(args.questionId) !== null) return refuse('internal', 'The id of a new question is taken.');
    mustBeFree(view, args);
    const question: QuestionRecord = {
      id: args.questionId,
      taskId: task.id,
      conversationId: task.conversationId,
      name: args.key,
      items: args.items,
      metadata: args.metadata,
      askedAt: now,
      expiresAt: args.timeoutMs === null ? null : now + args.timeoutMs,
      resolution: null,
    };
    const asking = { ...task, pendingQuestionCount: task.pendingQuestionCount + 1 };
    const row = newRow(args, { kind: 'ask', askedAt: args.askedAt });
    const asked = newEvent(task.id, 'question.asked', { question: toQuestion(question) });
    return accept({ question }, { changes: { tasks: [asking], questions: [question], rows: [row] }, events: [asked] });
  },
};
