import { failpoint } from '../failpoint.ts';
import type { KeyUse } from '../model/batch.ts';
import { HoldfastError } from '../model/error.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { DEFAULT_MAX_UNFINISHED, fullWords } from '../model/limits.ts';
import { isSettled, type Task, type TaskRecord, toTask } from '../model/task.ts';
import type { Outcome, TaskResult } from '../model/verb.ts';
import type { Store, TaskFilter } from '../store/store.ts';
import { onAbort } from './abort.ts';
import type { Admission } from './admission.ts';
import type { Hub } from './hub.ts';
import type { InProgress } from './in-progress.ts';
import type { Log } from './log.ts';
import { newId } from './new-ids.ts';
import { plainCursor, taskSubject } from './position.ts';
import { unwrap } from './refusal.ts';

/** What clients do with tasks. Every answer carries `cursor`: a stream from there misses no later change. */
export interface Tasks {
  /**
   * Puts a task in the queue once its input has been checked by its agent.
   *
   * @throws HoldfastError `unknown_agent`, `invalid_input`, `rate_limited`, `overloaded`, `draining`, `idempotency_mismatch`,
   *   `idempotency_in_progress`, `storage_full`
   */
  create(owner: string, request: CreateTaskRequest, idempotency?: KeyUse): Promise<Written<{ task: Task }>>;
  /** @throws HoldfastError `not_found` */
  get(owner: string, id: string): Read<{ task: Task }>;
  /** The stored task, for those who read its events. @throws HoldfastError `not_found` */
  record(owner: string, id: string): TaskRecord;
  list(owner: string, filter: TaskFilter): Read<{ tasks: Task[] }>;
  /** @throws HoldfastError `not_found`, `task_finished`, and those of idempotency and storage */
  cancel(owner: string, id: string, reason: string | null, idempotency?: KeyUse): Promise<Written<{ task: Task }>>;
  /**
   * Puts a new task in the queue that goes on where a failed or cancelled one can.
   *
   * @throws HoldfastError `not_found`, `task_finished` with the task for any other, `rate_limited`, `draining`, and those of
   *   idempotency and storage
   */
  retry(owner: string, id: string, idempotency?: KeyUse): Promise<Written<{ task: Task }>>;
  /** Waits until the task is terminal or waiting, but no longer than `waitMs` and the signal. @throws HoldfastError `not_found` */
  settled(owner: string, id: string, waitMs: number, signal: AbortSignal): Promise<Read<{ task: Task }>>;
}

export type Read<T> = T & { cursor: string };
/** `replayed`: it had been done before, by an equal request. */
export type Written<T> = T & { cursor: string; replayed: boolean };

export interface CreateTaskRequest {
  agent: string;
  input: Json;
  metadata: JsonObject;
  timeoutMs: number;
  /** −100 to 100, higher first. */
  priority: number;
  concurrencyKey: string | null;
  /** How many attempts may fail before the task does. */
  maxAttempts: number;
  /** The conversation that it belongs to, without being a turn of it; null for none. */
  conversationId: string | null;
  /** Not to be begun before, epoch ms; null for at once. */
  runAt: number | null;
}

export interface TasksDependencies {
  store: Store;
  log: Log;
  hub: Hub;
  admission: Admission;
  inProgress: InProgress;
  /** How many unfinished tasks an owner may have, children not counted. Default 10,000. */
  maxUnfinished?: number | undefined;
  /** When the server stops: waiting ends, and nothing new is taken. */
  stopping: AbortSignal;
}

export function createTasks(dependencies: TasksDependencies): Tasks {
  const { store, log, hub, admission, inProgress, maxUnfinished, stopping } = dependencies;

  function record(owner: string, id: string): TaskRecord {
    const task = store.task(owner, id);
    if (task === null) throw new HoldfastError('not_found', 'There is no such task.');
    return task;
  }

  function get(owner: string, id: string): Read<{ task: Task }> {
    return store.snapshot(() => shown(owner, record(owner, id)));
  }

  function shown(owner: string, task: TaskRecord): Read<{ task: Task }> {
    const state = store.log(owner);
    const mint = (seq: number) => plainCursor(state, seq);
    return { task: toTask(task, mint), cursor: mint(state.head) };
  }

  /** The task as its write left it, or the earlier one with the same key, and the cursor of just that state. */
  function written(owner: string, outcome: Outcome<TaskResult>): Written<{ task: Task }> {
    const state = store.log(owner);
    const { result, replayed } = unwrap(outcome, state);
    const task = toTask(result.task, (seq) => plainCursor(state, seq));
    return { task, cursor: task.cursor.last, replayed };
  }

  /** What the transaction would refuse is not worth one. It decides, since others may be on their way. */
  function refuseWhenFull(owner: string): void {
    const unfinished = store.unfinishedRoots(owner);
    const max = maxUnfinished ?? DEFAULT_MAX_UNFINISHED;
    if (unfinished >= max) throw new HoldfastError('rate_limited', fullWords(unfinished, max));
  }

  return {
    get,
    record,

    async create(owner, request, idempotency) {
      admission.refuseWhenStopping();
      return inProgress.run(owner, idempotency, async () => {
        // A request that was done before is answered as it was then, whatever has become of its agent.
        if (idempotency === undefined || !store.hasKey(owner, idempotency.key)) {
          const { conversationId } = request;
          if (conversationId !== null && store.conversation(owner, conversationId) === null) {
            throw new HoldfastError('not_found', 'There is no such conversation.');
          }
          refuseWhenFull(owner);
          await admission.checkInput(request.agent, request.input);
        }
        failpoint?.('input-checked');
        const args = { ...request, taskId: newId('task'), maxUnfinished };
        const call = { verb: 'createTask', args, ...(idempotency && { idempotency }) } as const;
        const { outcomes } = await log.commit(owner, [call]);
        failpoint?.('task-created');
        return written(owner, outcomes[0]);
      });
    },

    list(owner, filter) {
      return store.snapshot(() => {
        const state = store.log(owner);
        const mint = (seq: number) => plainCursor(state, seq);
        return { tasks: store.listTasks(owner, filter).map((task) => toTask(task, mint)), cursor: mint(state.head) };
      });
    },

    cancel(owner, id, reason, idempotency) {
      return inProgress.run(owner, idempotency, async () => {
        const call = { verb: 'cancelTask', args: { taskId: id, reason }, ...(idempotency && { idempotency }) } as const;
        const { outcomes } = await log.commit(owner, [call]);
        failpoint?.('task-cancelled');
        return written(owner, outcomes[0]);
      });
    },

    async retry(owner, taskId, idempotency) {
      admission.refuseWhenStopping();
      return inProgress.run(owner, idempotency, async () => {
        const args = { taskId, newTaskId: newId('task'), maxUnfinished };
        const call = { verb: 'retryTask', args, ...(idempotency && { idempotency }) } as const;
        const { outcomes } = await log.commit(owner, [call]);
        failpoint?.('task-retried');
        return written(owner, outcomes[0]);
      });
    },

    async settled(owner, id, waitMs, signal) {
      const task = record(owner, id);
      return await new Promise((resolve, reject) => {
        /** Whoever calls is spared what the store throws. */
        const look = (isOver: boolean) => {
          try {
            if (!isOver && !isSettled(record(owner, id).status)) return;
            resolve(get(owner, id));
          } catch (error) {
            reject(error);
          }
          clearTimeout(timer);
          subscription.close();
          stopListening();
        };
        const subscription = hub.subscribe(owner, taskSubject(task).scope, () => look(false));
        const timer = setTimeout(look, waitMs, true);
        const stopListening = onAbort([signal, stopping], () => look(true));
        look(false);
      });
    },
  };
}
