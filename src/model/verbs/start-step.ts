import { type NewEvent, newEvent, type StepRef } from '../event.ts';
import { heldTask, type Lease, leaseLost } from '../fence.ts';
import type { Json } from '../json.ts';
import { accept, type Verb } from '../verb.ts';

export interface StartStepArgs extends Lease {
  step: StepRef;
  /** The message that the step will write; null for a step that is no `say`. */
  messageId: string | null;
  /** The tool call that the step is; null for any other. */
  tool: { toolCallId: string; name: string; input: Json } | null;
}

/** Tells that a step's function begins to run. */
export const startStep: Verb<StartStepArgs, null> = {
  needs: ({ taskId }) => ({ tasks: [taskId] }),
  decide(view, args) {
    if (heldTask(view, args) === null) return leaseLost(args);
    const { taskId, step, messageId, tool } = args;
    const ref = JSON.stringify(step);
    const events: NewEvent[] = [newEvent(taskId, 'step.started', step)];
    if (tool !== null) events.push({ ...newEvent(taskId, 'tool.called', tool), step: ref });
    if (messageId !== null) {
      events.push({ ...newEvent(taskId, 'message.started', { messageId, role: 'assistant' }), step: ref });
    }
    return accept(null, { events });
  },
};
