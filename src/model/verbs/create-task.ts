import { newEvent } from '../event.ts';
import type { Json, JsonObject } from '../json.ts';
import type { TaskRecord } from '../task.ts';
import { accept, refuse, type TaskResult, type Verb } from '../verb.ts';

export interface CreateTaskArgs {
  taskId: string;
  agent: string;
  input: Json;
  metadata: JsonObject;
  timeoutMs: number;
  priority: number;
  concurrencyKey: string | null;
}

/** Puts a new task in the queue of its owner. @see docs/protocol.md §4 */
export const createTask: Verb<CreateTaskArgs, TaskResult> = {
  needs: ({ taskId }) => ({ tasks: [taskId] }),
  decide(view, args, now) {
    if (view.task(args.taskId) !== null) return refuse('internal', 'The id of a new task is taken.');
    const task: TaskRecord = {
      id: args.taskId,
      owner: view.log.owner,
      agent: args.agent,
      status: 'queued',
      parentId: null,
      rootId: args.taskId,
      input: args.input,
      output: null,
      error: null,
      progress: null,
      attempt: 0,
      pendingQuestionCount: 0,
      metadata: args.metadata,
      priority: args.priority,
      concurrencyKey: args.concurrencyKey,
      timeoutMs: args.timeoutMs,
      version: null,
      fence: 0,
      ranMs: 0,
      deadlineAt: null,
      runningSince: null,
      createdAt: now,
      startedAt: null,
      finishedAt: null,
      firstSeq: 0,
      lastSeq: 0,
      prunedSeq: 0,
    };
    const created = newEvent(task.id, 'task.created', {
      agent: task.agent,
      input: task.input,
      parentId: null,
      retryOf: null,
    });
    return accept({ task }, { changes: { tasks: [task] }, events: [created] });
  },
};
