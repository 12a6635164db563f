import type { Lease } from '../fence.ts';
import { leaseLost } from '../fence.ts';
import { accept, type Verb } from '../verb.ts';

/** Lets go of a task that came to its end, or to that of an attempt, while a worker ran its code: now none does. */
export const releaseTask: Verb<Lease, null> = {
  needs: ({ taskId }) => ({ tasks: [taskId] }),
  decide(view, args) {
    const task = view.task(args.taskId);
    const isOver = task !== null && task.fence === args.fence && task.held && task.status !== 'running';
    return isOver ? accept(null, { changes: { tasks: [{ ...task, held: false }] } }) : leaseLost(args);
  },
};
