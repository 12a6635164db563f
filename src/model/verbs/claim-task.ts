import { newEvent } from '../event.ts';
import { moveTask } from '../task.ts';
import { accept, refuse, type TaskResult, type Verb } from '../verb.ts';

export interface ClaimTaskArgs {
  taskId: string;
  /** The `version` of the agent that will run it; stored at the first claim. */
  version: string;
}

/**
 * Gives a queued task to a worker under a new fence: the only way to `running`. The first claim begins attempt 1 and
 * says so; one after a wait has no event, since `task.resumed` has told it.
 */
export const claimTask: Verb<ClaimTaskArgs, TaskResult> = {
  needs: ({ taskId }) => ({ tasks: [taskId], lanes: [taskId] }),
  decide(view, { taskId, version }, now) {
    const task = view.task(taskId);
    if (task === null || task.status !== 'queued') return refuse('not_claimable', `${taskId} is not queued.`);
    if (view.isLaneBusy(task)) return refuse('not_claimable', `The lane of ${taskId} is busy.`);
    const first = task.attempt === 0;
    const claimed = {
      ...moveTask(task, 'running', now),
      fence: task.fence + 1,
      attempt: first ? 1 : task.attempt,
      version: task.version ?? version,
    };
    const events = first ? [newEvent(taskId, 'task.started', { attempt: 1 })] : [];
    return accept({ task: claimed }, { changes: { tasks: [claimed] }, events });
  },
};
