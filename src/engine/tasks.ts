import { failpoint } from '../failpoint.ts';
import type { KeyUse } from '../model/batch.ts';
import { HoldfastError } from '../model/error.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { DEFAULT_MAX_UNFINISHED, fullWords } from '../model/limits.ts';
import { isSettled, type Task, type TaskRecord, toTask } from '../model/task.ts';
import type { Outcome, TaskResult } from '../model/verb.ts';
import type { Store, TaskFilter } from '../store/store.ts';
import type { Admission } from './admission.ts';
import { createBell } from './bell.ts';
import type { Hub } from './hub.ts';
import type { InProgress } from './in-progress.ts';
import type { Log } from './log.ts';
import { newId } from './new-ids.ts';
import { headCursor, plainCursor, taskSubject } from './position.ts';
import { unwrap } from './refusal.ts';

/** What clients do with tasks. Every answer carries `cursor`: a stream from there misses no later change. */
export interface Tasks {
  /**
   * Puts a task in the queue once its input has been checked by its agent.
   *
   * @throws HoldfastError `unknown_agent`, `invalid_input`, `rate_limited`, `overloaded`, `draining`, `idempotency_mismatch`,
   *   `idempotency_in_progress`, and those of storage
   */
  create(owner: string, request: CreateTaskRequest, idempotency?: KeyUse): Promise<Written<{ task: Task }>>;
  /** @throws HoldfastError `not_found` */
  get(owner: string, id: string): Promise<Read<{ task: Task }>>;
  /** The stored task, for those who read its events. @throws HoldfastError `not_found` */
  record(owner: string, id: string): Promise<TaskRecord>;
  list(owner: string, filter: TaskFilter): Promise<Read<{ tasks: Task[] }>>;
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

  async function record(owner: string, id: string): Promise<TaskRecord> {
    return existing(await store.task(owner, id));
  }

  async function get(owner: string, id: string): Promise<Read<{ task: Task }>> {
    const [task, state] = await store.snapshot((reads) => Promise.all([reads.task(owner, id), reads.log(owner)]));
    return { task: toTask(existing(task), (seq) => plainCursor(state, seq)), cursor: headCursor(state) };
  }

  /** The task as its write left it, or the earlier one with the same key, and the cursor of just that state. */
  async function written(owner: string, outcome: Outcome<TaskResult>): Promise<Written<{ task: Task }>> {
    const state = await store.log(owner);
    const { result, replayed } = unwrap(outcome, state);
    const task = toTask(result.task, (seq) => plainCursor(state, seq));
    return { task, cursor: task.cursor.last, replayed };
  }

  /** What the transaction would refuse is not worth one. It decides, since others may be on their way. */
  async function checkNew(owner: string, { conversationId, agent, input }: CreateTaskRequest): Promise<void> {
    const [conversation, unfinished] = await Promise.all([
      conversationId === null ? null : store.conversation(owner, conversationId),
      store.unfinishedRoots(owner),
    ]);
    if (conversationId !== null && conversation === null) {
      throw new HoldfastError('not_found', 'There is no such conversation.');
    }
    const max = maxUnfinished ?? DEFAULT_MAX_UNFINISHED;
    if (unfinished >= max) throw new HoldfastError('rate_limited', fullWords(unfinished, max));
    await admission.checkInput(agent, input);
  }

  return {
    get,
    record,

    async create(owner, request, idempotency) {
      admission.refuseWhenStopping();
      return inProgress.run(owner, idempotency, async () => {
        // A request that was done before is answered as it was then, whatever has become of its agent.
        if (idempotency === undefined || !(await store.hasKey(owner, idempotency.key))) await checkNew(owner, request);
        failpoint?.('input-checked');
        const args = { ...request, taskId: newId('task'), maxUnfinished };
        const call = { verb: 'createTask', args, ...(idempotency && { idempotency }) } as const;
        const { outcomes } = await log.commit(owner, [call]);
        failpoint?.('task-created');
        return written(owner, outcomes[0]);
      });
    },

    async list(owner, filter) {
      const [tasks, state] = await store.snapshot((reads) =>
        Promise.all([reads.listTasks(owner, filter), reads.log(owner)]),
      );
      return { tasks: tasks.map((task) => toTask(task, (seq) => plainCursor(state, seq))), cursor: headCursor(state) };
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
      const deadline = performance.now() + waitMs;
      const bell = createBell();
      const { scope } = taskSubject(await record(owner, id));
      const subscription = hub.subscribe(owner, scope, bell.ring);
      try {
        for (;;) {
          const { status } = await record(owner, id);
          const leftMs = deadline - performance.now();
          if (isSettled(status) || leftMs <= 0 || signal.aborted || stopping.aborted) return await get(owner, id);
          await bell.wait(leftMs, [signal, stopping]);
        }
      } finally {
        subscription.close();
      }
    },
  };
}

function existing(task: TaskRecord | null): TaskRecord {
  if (task === null) throw new HoldfastError('not_found', 'There is no such task.');
  return task;
}
