import { endTask } from '../ending.ts';
import type { Lease } from '../fence.ts';
import { leaseLost } from '../fence.ts';
import { isTerminal } from '../task.ts';
import type { TaskError } from '../task-error.ts';
import { refuse, type TaskResult, type Verb } from '../verb.ts';

export interface FailTaskArgs extends Lease {
  error: TaskError;
  /** `deadline`: only if its running time is used up by the store's clock. */
  when: 'now' | 'deadline';
}

/** Fails a task: its agent threw, its worker died, or its time is used up. A waiting task's worker can die too. */
export const failTask: Verb<FailTaskArgs, TaskResult> = {
  needs: ({ taskId }) => ({ trees: [taskId] }),
  decide(view, args, now) {
    const task = view.task(args.taskId);
    if (task === null || task.fence !== args.fence || isTerminal(task.status)) return leaseLost(args);
    if (args.when === 'deadline' && (task.deadlineAt === null || now < task.deadlineAt)) {
      return refuse('not_due', `${task.id} has time left.`);
    }
    return endTask(view, task, { status: 'failed', error: args.error }, now);
  },
};
