import { continuationOf } from '../continuing.ts';
import { refuseWhenFull, type UnfinishedLimit } from '../limits.ts';
import { newTask, taskCreated } from '../new-task.ts';
import type { TaskRecord } from '../task.ts';
import { accept, refuse, type TaskResult, type Verb } from '../verb.ts';
import type { View } from '../view.ts';

export interface RetryTaskArgs extends UnfinishedLimit {
  /** A task that has failed or was cancelled. */
  taskId: string;
  newTaskId: string;
}

/**
 * Begins a new task where another came to its end: with a copy of what its journal came to, taken back to before the
 * failure, so that nothing in it is done again. Its stream tells the events of the agent's code anew.
 *
 * @see docs/protocol.md §4, docs/durability.md
 */
export const retryTask: Verb<RetryTaskArgs, TaskResult> = {
  needs: ({ taskId, newTaskId }) => ({ journals: [taskId], tasks: [newTaskId] }),
  decide(view, { taskId, newTaskId, maxUnfinished }, now) {
    const task = view.task(taskId);
    if (task === null) return refuse('not_found', 'There is no such task.');
    const { conversationId } = task;
    const conversation = conversationId === null ? null : view.conversation(conversationId);
    // With its conversation: then there is nothing that the new task could belong to.
    if (conversationId !== null && conversation === null) return refuse('not_found', 'There is no such task.');
    if (task.status !== 'failed' && task.status !== 'cancelled') {
      return refuse('task_finished', `The task is ${task.status}: only one that failed or was cancelled is retried.`, {
        task,
      });
    }
    if (isPruned(view, task)) {
      return refuse('task_finished', 'The task ended so long ago that what it had done is deleted.', { task });
    }
    const full = refuseWhenFull(view.log, conversation, { maxUnfinished });
    if (full !== null) return full;
    if (view.task(newTaskId) !== null) return refuse('internal', 'The id of a new task is taken.');
    const { agent, input, metadata, timeoutMs, priority, concurrencyKey, maxAttempts } = task;
    const { rows, more } = continuationOf(view, task);
    const given = { id: newTaskId, owner: task.owner, agent, input, metadata, timeoutMs, priority };
    const retried = newTask({ ...given, concurrencyKey, maxAttempts }, now, {
      ...more,
      ...{ conversationId, isTurn: task.isTurn, lane: laneOfRetry(task) },
    });
    return accept(
      { task: retried },
      {
        changes: { tasks: [retried], rows: rows.map((row) => ({ ...row, taskId: newTaskId })) },
        events: [taskCreated(retried)],
      },
    );
  },
};

/** That of a child is a task by itself. */
function laneOfRetry(task: TaskRecord): string | null {
  return task.parentId === null ? task.lane : null;
}

/** The journals of a tree go together, with the events of its root. */
function isPruned(view: View, task: TaskRecord): boolean {
  const root = view.task(task.rootId);
  if (root === null) throw new Error(`The root of ${task.id} is not loaded.`);
  return root.prunedSeq > 0;
}
