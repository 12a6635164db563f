import { type NewEvent, newEvent, type StepRef } from '../event.ts';
import { type Lease, refuseWork, workingTask } from '../fence.ts';
import type { Json } from '../json.ts';
import { newRow, rowOf } from '../row.ts';
import { accept, type Verb } from '../verb.ts';

export interface StartStepArgs extends Lease {
  /** `attempt` is one more than its row has seen. */
  step: StepRef;
  askedAt: number;
  once: boolean;
  /** The message that the step will write; null for a step that is no `say`. */
  messageId: string | null;
  /** The tool call that the step is; null for any other. */
  tool: { toolCallId: string; name: string; input: Json } | null;
}

/** Tells that a step's function begins to run, and counts it. */
export const startStep: Verb<StartStepArgs, null> = {
  needs: ({ taskId, step }) => ({ tasks: [taskId], rows: [{ taskId, key: step.name }] }),
  decide(view, args) {
    if (workingTask(view, args) === null) return refuseWork(view, args);
    const { taskId, step, askedAt, once, messageId } = args;
    const at = { taskId, key: step.name };
    const row = rowOf(view, at, 'step') ?? newRow(at, { kind: 'step', askedAt });
    if (row.status !== 'pending') throw new Error(`${at.key} of ${taskId} begins, and is ${row.status} already.`);
    if (step.attempt !== row.tries + 1) {
      throw new Error(`${at.key} of ${taskId} has begun ${row.tries} times: this is not attempt ${step.attempt}.`);
    }
    const events = startEvents(args);
    // Its first event is the last of these.
    const message = messageId === null ? null : { id: messageId, afterSeq: view.log.head + events.length - 1 };
    return accept(null, { changes: { rows: [{ ...row, tries: step.attempt, once, message }] }, events });
  },
};

function startEvents({ taskId, step, messageId, tool }: StartStepArgs): NewEvent[] {
  const ref = JSON.stringify(step);
  const events: NewEvent[] = [newEvent(taskId, 'step.started', step)];
  if (tool !== null) events.push({ ...newEvent(taskId, 'tool.called', tool), step: ref });
  if (messageId !== null) {
    events.push({ ...newEvent(taskId, 'message.started', { messageId, role: 'assistant' }), step: ref });
  }
  return events;
}
