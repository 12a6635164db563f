import { type NewEvent, newEvent, type StepRef } from '../event.ts';
import { heldTask, type Lease, leaseLost } from '../fence.ts';
import type { Json } from '../json.ts';
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
  /** The whole text of a `say` that completed, or the id of one whose attempt failed; null for other steps. */
  message: { id: string; content: string } | null;
  /** What a tool gave back; null for a step that is no tool call. */
  tool: { toolCallId: string; output: Json } | { toolCallId: string; error: TaskError } | null;
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

function resultEvents({ taskId, outcome, message, tool }: SettleStepArgs, now: number): NewEvent[] {
  const events: NewEvent[] = [];
  if (tool !== null) events.push(newEvent(taskId, 'tool.returned', tool));
  if (message === null) return events;
  const { id, content } = message;
  if (outcome.status === 'failed') {
    events.push(newEvent(taskId, 'message.discarded', { messageId: id, reason: 'step_failed' }));
    return events;
  }
  const whole = {
    id,
    conversationId: null,
    taskId,
    role: 'assistant',
    content,
    status: 'complete',
    empty: content === '',
    metadata: {},
    createdAt: new Date(now).toISOString(),
  } as const;
  events.push(newEvent(taskId, 'message.completed', { message: whole }));
  return events;
}
