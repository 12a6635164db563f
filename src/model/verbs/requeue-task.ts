import { endTask } from '../ending.ts';
import { newEvent } from '../event.ts';
import { heldTask, type Lease, leaseLost } from '../fence.ts';
import { moveTask, type TaskRecord } from '../task.ts';
import { taskError } from '../task-error.ts';
import { accept, type TaskResult, type Verb } from '../verb.ts';

export interface RequeueTaskArgs extends Lease {
  /**
   * `crashed`: the process died, it may be by this task. `worker_lost`: its worker died, by another. `drained`: the
   * process stops. `parked`: its copy was dropped to save memory.
   */
  cause: 'crashed' | 'worker_lost' | 'drained' | 'parked';
  /** Whether it ran alone when the process died. */
  alone?: boolean;
}

/** So many deaths of the process with a task alone convict it. @see docs/decisions/013-a-crash-convicts-nobody.md */
const MAX_ALONE_CRASHES = 3;

/** Puts a running task whose copy is gone back in the queue: it goes on from its journal. */
export const requeueTask: Verb<RequeueTaskArgs, TaskResult> = {
  needs: ({ taskId, cause }) => (cause === 'crashed' ? { trees: [taskId] } : { tasks: [taskId] }),
  decide(view, args, now) {
    const held = heldTask(view, args);
    if (held === null) return leaseLost(args);
    const task = { ...held, held: false };
    switch (args.cause) {
      case 'crashed': {
        const crashed = afterCrash(task, args.alone ?? false);
        if (crashed.aloneCrashes < MAX_ALONE_CRASHES) return recovered(crashed, args.cause, now);
        const error = taskError('crash_loop', `The server died ${MAX_ALONE_CRASHES} times while the task ran alone.`);
        return endTask(view, crashed, { status: 'failed', error, cut: null }, now);
      }
      case 'worker_lost':
        return recovered(task, args.cause, now);
      case 'drained':
      case 'parked': {
        const queued = moveTask(task, 'queued', now);
        return accept({ task: queued }, { changes: { tasks: [queued] } });
      }
    }
  },
};

/** Nobody knows how long it ran before the process died: none of that counts. */
function afterCrash(task: TaskRecord, alone: boolean): TaskRecord {
  const mark = task.ord + task.emits;
  const hasProgressed = mark !== task.crashMark;
  return {
    ...task,
    runningSince: null,
    crashes: hasProgressed ? 1 : task.crashes + 1,
    crashMark: mark,
    aloneCrashes: hasProgressed ? 0 : task.aloneCrashes + Number(alone),
  };
}

function recovered(task: TaskRecord, reason: 'crashed' | 'worker_lost', now: number) {
  const queued = { ...moveTask(task, 'queued', now), begins: true };
  const { attempt } = task;
  const events = [newEvent(task.id, 'task.recovered', { attempt, reason })];
  return accept({ task: queued }, { changes: { tasks: [queued] }, events });
}
