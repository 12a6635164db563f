import type { Json } from '../json.ts';
import { isTerminal } from '../task.ts';
import { accept, refuse, type TaskResult, type Verb } from '../verb.ts';

export interface AddToInboxArgs {
  taskId: string;
  message: Json;
}

/** Sends an unfinished task a message, which its code gets when it looks the next time. */
export const addToInbox: Verb<AddToInboxArgs, TaskResult> = {
  needs: ({ taskId }) => ({ tasks: [taskId] }),
  decide(view, { taskId, message }) {
    const task = view.task(taskId);
    if (task === null) return refuse('not_found', 'There is no such task.');
    if (isTerminal(task.status)) return refuse('task_finished', `The task is already ${task.status}.`, { task });
    const sent = { ...task, inbox: [...task.inbox, message] };
    return accept({ task: sent }, { changes: { tasks: [sent] } });
  },
};
