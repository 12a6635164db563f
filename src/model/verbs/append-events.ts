import type { EventData, NewEvent, StepRef } from '../event.ts';
import { type Lease, refuseWork, workingTask } from '../fence.ts';
import type { JournalRow, RowKey } from '../journal.ts';
import { rowOf } from '../row.ts';
import type { TaskRecord } from '../task.ts';
import { accept, type Verb } from '../verb.ts';
import type { View } from '../view.ts';

export interface AppendEventsArgs extends Lease {
  /** How many events from outside its steps the copy had sent before these, in this attempt. */
  after: number;
  /** In the order of the agent's calls, checked by the handle that sent them. */
  events: NewEvent[];
}

/** Appends what a running task emits, streams and reports as progress, in one go. */
export const appendEvents: Verb<AppendEventsArgs, null> = {
  needs: ({ taskId, events }) => ({ tasks: [taskId], rows: events.flatMap((event) => speaker(event) ?? []) }),
  decide(view, args) {
    const task = workingTask(view, args);
    if (task === null) return refuseWork(view, args);
    if (args.after !== task.emits) {
      throw new Error(`${task.id} has emitted ${task.emits} events, not the ${args.after} before these.`);
    }
    const changed = told(task, args.events);
    const tasks = changed === task ? [] : [changed];
    return accept(null, { changes: { tasks, rows: saying(view, args.events) }, events: args.events });
  },
};

/** What comes from outside steps is counted, and the latest progress, wherever it comes from, is kept. */
function told(task: TaskRecord, events: readonly NewEvent[]): TaskRecord {
  const outside = events.filter(({ step }) => step === null).length;
  const latest = events.findLast(({ type }) => type === 'task.progress');
  if (outside === 0 && latest === undefined) return task;
  return {
    ...task,
    emits: task.emits + outside,
    progress: latest === undefined ? task.progress : JSON.parse(latest.data),
  };
}

/** The step that begins a message with this event; null for any other event. */
function speaker({ taskId, type, step }: NewEvent): RowKey | null {
  if (type !== 'message.started' || step === null || taskId === null) return null;
  const { name }: StepRef = JSON.parse(step);
  return { taskId, key: name };
}

/** The rows of steps that have begun a message of their own. */
function saying(view: View, events: readonly NewEvent[]): JournalRow[] {
  return events.flatMap((event, index) => {
    const at = speaker(event);
    if (at === null) return [];
    const row = rowOf(view, at, 'step');
    if (row?.status !== 'pending') throw new Error(`${at.key} of ${at.taskId} speaks, and does not run.`);
    const { messageId }: EventData['message.started'] = JSON.parse(event.data);
    return [{ ...row, message: { id: messageId, afterSeq: view.log.head + index } }];
  });
}
