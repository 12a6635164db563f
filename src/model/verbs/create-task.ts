import type { Json, JsonObject } from '../json.ts';
import { refuseWhenFull, type UnfinishedLimit } from '../limits.ts';
import { newTask, taskCreated } from '../new-task.ts';
import { accept, refuse, type TaskResult, type Verb } from '../verb.ts';

export interface CreateTaskArgs extends UnfinishedLimit {
  taskId: string;
  agent: string;
  input: Json;
  metadata: JsonObject;
  timeoutMs: number;
  priority: number;
  concurrencyKey: string | null;
  maxAttempts: number;
  /** The conversation that it belongs to, without being a turn of it; null for none. */
  conversationId: string | null;
  /** Not to begin before, epoch ms; null for at once. */
  runAt: number | null;
}

/** Puts a new task in the queue of its owner. @see docs/protocol.md §4 */
export const createTask: Verb<CreateTaskArgs, TaskResult> = {
  needs: ({ taskId, conversationId }) => ({ tasks: [taskId], conversations: idsOf(conversationId) }),
  decide(view, { taskId, conversationId, runAt, maxUnfinished, ...args }, now) {
    if (view.task(taskId) !== null) return refuse('internal', 'The id of a new task is taken.');
    const conversation = conversationId === null ? null : view.conversation(conversationId);
    if (conversationId !== null && conversation === null) {
      return refuse('not_found', 'There is no such conversation.');
    }
    const full = refuseWhenFull(view.log, conversation, { maxUnfinished });
    if (full !== null) return full;
    const isReady = runAt === null || runAt <= now;
    const task = newTask({ id: taskId, owner: view.log.owner, ...args }, now, {
      conversationId,
      runAt: isReady ? null : runAt,
    });
    return accept({ task }, { changes: { tasks: [task] }, events: [taskCreated(task)] });
  },
};

function idsOf(id: string | null): string[] {
  return id === null ? [] : [id];
}
