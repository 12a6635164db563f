import { endTask } from '../ending.ts';
import { type Lease, refuseWork, workingTask } from '../fence.ts';
import type { Json } from '../json.ts';
import type { TaskResult, Verb } from '../verb.ts';

export interface FinishTaskArgs extends Lease {
  output: Json;
}

/** Completes a task with what its agent returned. */
export const finishTask: Verb<FinishTaskArgs, TaskResult> = {
  needs: ({ taskId }) => ({ trees: [taskId] }),
  decide(view, args, now) {
    const task = workingTask(view, args);
    if (task === null) return refuseWork(view, args);
    return endTask(view, { ...task, held: false }, { status: 'completed', output: args.output }, now);
  },
};
