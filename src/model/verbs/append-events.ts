import type { NewEvent } from '../event.ts';
import { heldTask, type Lease, leaseLost } from '../fence.ts';
import type { Progress } from '../task.ts';
import { accept, type Verb } from '../verb.ts';

export interface AppendEventsArgs extends Lease {
  /** In the order of the agent's calls, checked by the handle that sent them. */
  events: NewEvent[];
}

/** Appends what a running task emits, streams and reports as progress, in one go. */
export const appendEvents: Verb<AppendEventsArgs, null> = {
  needs: ({ taskId }) => ({ tasks: [taskId] }),
  decide(view, args) {
    const task = heldTask(view, args);
    if (task === null) return leaseLost(args);
    const latest = args.events.findLast(({ type }) => type === 'task.progress');
    if (latest === undefined) return accept(null, { events: args.events });
    const progress: Progress = JSON.parse(latest.data);
    return accept(null, { changes: { tasks: [{ ...task, progress }] }, events: args.events });
  },
};
