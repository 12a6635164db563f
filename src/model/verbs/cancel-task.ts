import { endTask } from '../ending.ts';
import { isTerminal } from '../task.ts';
import { refuse, repeat, type TaskResult, type Verb } from '../verb.ts';

export interface CancelTaskArgs {
  taskId: string;
  reason: string | null;
}

/** Cancels a task in any status but the other terminal ones; again on a cancelled one is a repetition. @see docs/protocol.md §4 */
export const cancelTask: Verb<CancelTaskArgs, TaskResult> = {
  needs: ({ taskId }) => ({ trees: [taskId] }),
  decide(view, { taskId, reason }, now) {
    const task = view.task(taskId);
    if (task === null) return refuse('not_found', 'There is no such task.');
    if (task.status === 'cancelled') return repeat({ task });
    if (isTerminal(task.status)) return refuse('task_finished', `The task is already ${task.status}.`, { task });
    return endTask(view, task, { status: 'cancelled', reason }, now);
  },
};
