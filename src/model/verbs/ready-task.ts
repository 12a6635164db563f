import { accept, refuse, type Verb } from '../verb.ts';

export interface ReadyTaskArgs {
  taskId: string;
}

/** Offers a queued task to claims whose time to begin has come. The store's clock decides, not the caller's timer. */
export const readyTask: Verb<ReadyTaskArgs, null> = {
  needs: ({ taskId }) => ({ tasks: [taskId] }),
  decide(view, { taskId }, now) {
    const task = view.task(taskId);
    if (task === null || task.runAt === null || now < task.runAt) {
      return refuse('not_due', `${taskId} is not to begin yet.`);
    }
    return accept(null, { changes: { tasks: [{ ...task, runAt: null }] } });
  },
};
