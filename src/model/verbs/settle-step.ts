import { type EventData, type Message, type NewEvent, newEvent, type StepRef } from '../event.ts';
import { heldTask, type Lease, leaseLost } from '../fence.ts';
import type { TaskError } from '../task-error.ts';
import { accept, type Verb } from '../verb.ts';

export interface SettleStepArgs extends Lease {
  step: StepRef;
  /** How long this attempt of the step took. */
  ms: number;
  outcome:
    | { status: 'completed' }
    /** `retryInMs` is null when the failure is the step's last and reaches the agent's code. */
    | { status: 'failed'; error: TaskError; retryInMs: number | null };
  /** What the attempt has said, as far as it came before it failed; null for one that has no message. */
  message: { id: string; content: string } | null;
  /** What a tool gave back; null for a step that is no tool call. */
  tool: EventData['tool.returned'] | null;
}

/** Tells that a step's function has ended, with the message or the tool's result that came of it. */
export const settleStep: Verb<SettleStepArgs, null> = {
  needs: ({ taskId }) => ({ tasks: [taskId] }),
  decide(view, args, now) {
    if (heldTask(view, args) === null) return leaseLost(args);
    const { taskId, step, outcome, ms } = args;
    const results = resultEvents(args, now).map((event) => ({ ...event, step: JSON.stringify(step) }));
    const end =
      outcome.status === 'completed'
        ? newEvent(taskId, 'step.completed', { ...step, ms })
        : newEvent(taskId, 'step.failed', { ...step, error: outcome.error, retryInMs: outcome.retryInMs });
    return accept(null, { events: [...results, end] });
  },
};

function resultEvents(args: SettleStepArgs, now: number): NewEvent[] {
  const { taskId, message, tool } = args;
  const returned = tool === null ? [] : [newEvent(taskId, 'tool.returned', tool)];
  return message === null ? returned : [...returned, messageEnd(args, message, now)];
}

/** People have seen the text live: it is kept, whole or not, unless another attempt is going to say it anew. */
function messageEnd(
  { taskId, outcome }: SettleStepArgs,
  { id, content }: NonNullable<SettleStepArgs['message']>,
  now: number,
): NewEvent {
  if (outcome.status === 'failed' && outcome.retryInMs !== null) {
    return newEvent(taskId, 'message.discarded', { messageId: id, reason: 'step_failed' });
  }
  const message: Message = {
    id,
    conversationId: null,
    taskId,
    role: 'assistant',
    content,
    status: outcome.status === 'completed' ? 'complete' : 'partial',
    empty: content === '',
    metadata: {},
    createdAt: new Date(now).toISOString(),
  };
  return newEvent(taskId, 'message.completed', { message });
}
