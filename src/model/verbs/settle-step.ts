import { type EventData, type Message, type NewEvent, newEvent, type StepRef } from '../event.ts';
import { type Lease, refuseWork, workingTask } from '../fence.ts';
import type { JournalRow } from '../journal.ts';
import { messageDiscarded, said } from '../message.ts';
import { resolveRow } from '../resolving.ts';
import { newRow, rowOf } from '../row.ts';
import type { TaskRecord } from '../task.ts';
import type { TaskError } from '../task-error.ts';
import { accept, type Verb } from '../verb.ts';

export interface SettleStepArgs extends Lease {
  step: StepRef;
  askedAt: number;
  once: boolean;
  /** How long this attempt of the step took. */
  ms: number;
  outcome: /** `value` is JSON text. */
    | { status: 'completed'; value: string }
    /**
     * `failure` is the JSON text of a `StepFailure`. `retryInMs` is null when the failure is the step's last and reaches
     * the agent's code.
     */
    | { status: 'failed'; error: TaskError; failure: string; retryInMs: number | null };
  /** What the attempt has said, as far as it came before it failed; null for one that has no message. */
  message: { id: string; content: string } | null;
  /** What a tool gave back; null for a step that is no tool call. */
  tool: EventData['tool.returned'] | null;
}

/**
 * Tells that a step's function has ended, with the message or the tool's result that came of it, and writes down what it
 * came to if that is final. A step that has come to something already stays as it is.
 */
export const settleStep: Verb<SettleStepArgs, null> = {
  needs: ({ taskId, step }) => ({ tasks: [taskId], rows: [{ taskId, key: step.name }] }),
  decide(view, args, now) {
    const task = workingTask(view, args);
    if (task === null) return refuseWork(view, args);
    const { outcome } = args;
    const known = rowOf(view, { taskId: task.id, key: args.step.name }, 'step');
    if (known !== null && known.status !== 'pending') return accept(null);
    const told = settlement(task, args, now);
    const { events, messages } = told;
    if (outcome.status === 'failed' && outcome.retryInMs !== null) {
      return accept(null, { changes: { rows: [{ ...begun(known, args), message: null }] }, events });
    }
    const resolved =
      outcome.status === 'completed'
        ? resolveRow(told.task, begun(known, args), { status: 'done', value: outcome.value }, now)
        : resolveRow(told.task, known ?? neverBegun(args), { status: 'failed', value: outcome.failure }, now);
    return accept(null, {
      changes: { tasks: [resolved.task], rows: [resolved.row], messages },
      events,
      resolutions: [resolved.resolution],
    });
  },
};

/** @throws Error when the step has never begun: a bug */
function begun(row: JournalRow | null, { taskId, step }: SettleStepArgs): JournalRow {
  if (row === null) throw new Error(`${step.name} of ${taskId} ends, and has not begun.`);
  return row;
}

/** A step that fails without having run, since it may have run under a row that is gone. */
function neverBegun({ taskId, step, askedAt, once }: SettleStepArgs): JournalRow {
  return newRow({ taskId, key: step.name }, { kind: 'step', askedAt, once });
}

/** What the step's end tells, and what is stored of it, in the order of what it did. */
interface Settlement {
  task: TaskRecord;
  events: NewEvent[];
  messages: Message[];
}

function settlement(task: TaskRecord, args: SettleStepArgs, now: number): Settlement {
  const { taskId, step, outcome, ms, tool } = args;
  const returned = tool === null ? [] : [{ ...newEvent(taskId, 'tool.returned', tool), step: JSON.stringify(step) }];
  const end =
    outcome.status === 'completed'
      ? newEvent(taskId, 'step.completed', { ...step, ms })
      : newEvent(taskId, 'step.failed', { ...step, error: outcome.error, retryInMs: outcome.retryInMs });
  const message = messageEnd(task, args, now);
  return { task: message.task, events: [...returned, ...message.events, end], messages: message.messages };
}

/** People have seen the text live: it is kept, whole or not, unless another attempt is going to say it anew. */
function messageEnd(task: TaskRecord, { step, outcome, message }: SettleStepArgs, now: number): Settlement {
  if (message === null) return { task, events: [], messages: [] };
  const { id, content } = message;
  if (outcome.status === 'failed' && outcome.retryInMs !== null) {
    const discarded = messageDiscarded(task.id, step, { messageId: id, reason: 'step_failed' });
    return { task, events: [discarded], messages: [] };
  }
  const status = outcome.status === 'completed' ? 'complete' : 'partial';
  const { event, ...rest } = said(task, step, { id, content, status }, now);
  return { ...rest, events: [event] };
}
