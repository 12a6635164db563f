import { newEvent } from '../event.ts';
import { type Lease, refuseWork, workingTask } from '../fence.ts';
import type { JsonObject } from '../json.ts';
import { questionLimit, type UnfinishedLimit } from '../limits.ts';
import { type QuestionRecord, toQuestion } from '../question.ts';
import type { QuestionItem } from '../question-item.ts';
import { mustBeFree, newRow } from '../row.ts';
import { accept, type QuestionResult, refuse, type Verb } from '../verb.ts';

export interface AskQuestionArgs extends Lease, UnfinishedLimit {
  questionId: string;
  /** The key under which the agent asks. */
  key: string;
  askedAt: number;
  items: QuestionItem[];
  metadata: JsonObject;
  /** How long it stays open, from now; null never expires. */
  timeoutMs: number | null;
}

/** Opens a question of a running task, unless too many are open. @see docs/protocol.md §6, docs/limits.md */
export const askQuestion: Verb<AskQuestionArgs, QuestionResult> = {
  needs: ({ taskId, key, questionId }) => ({ tasks: [taskId], questions: [questionId], rows: [{ taskId, key }] }),
  decide(view, args, now) {
    const task = workingTask(view, args);
    if (task === null) return refuseWork(view, args);
    if (view.question(args.questionId) !== null) return refuse('internal', 'The id of a new question is taken.');
    const limit = questionLimit(task, view.log, args);
    if (limit !== null) return refuse('limit_exceeded', limit);
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
