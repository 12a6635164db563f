import type { Lease } from '../fence.ts';
import { leaseLost } from '../fence.ts';
import { resumed } from '../resume.ts';
import { accept, type Verb } from '../verb.ts';

/** Queues a waiting task whose copy found work by itself: something outside the handle has ended in its code. */
export const wakeTask: Verb<Lease, null> = {
  needs: ({ taskId }) => ({ tasks: [taskId] }),
  decide(view, args, now) {
    const task = view.task(args.taskId);
    if (task === null || task.fence !== args.fence) return leaseLost(args);
    if (task.status === 'queued') return accept(null);
    if (task.status !== 'waiting') return leaseLost(args);
    const woken = resumed(task, now);
    return accept(null, { changes: { tasks: [woken.task] }, events: woken.events });
  },
};
