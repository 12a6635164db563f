import { applyCut } from '../cut.ts';
import { endTask } from '../ending.ts';
import { newEvent } from '../event.ts';
import { heldTask, type Lease, leaseLost, waitingTask } from '../fence.ts';
import type { Cut } from '../journal.ts';
import { moveTask, type TaskRecord } from '../task.ts';
import type { TaskError, TaskErrorCode } from '../task-error.ts';
import { accept, type Decision, refuse, type TaskResult, type Verb } from '../verb.ts';
import type { View } from '../view.ts';

export interface FailTaskArgs extends Lease {
  error: TaskError;
  /** Where the journal is taken back to, for another attempt or a `retry`; null keeps it whole. */
  cut: Cut | null;
  /**
   * `now`: its own copy says so, or is known to be gone. `cut`: now, while a worker may still run its code, and holds it.
   * `deadline`: the same, but only if its running time is used up by the store's clock.
   */
  when: 'now' | 'cut' | 'deadline';
  /** 0 to 1, by chance: how much of the longest wait comes before another attempt. */
  jitter: number;
}

/** What another attempt would end in as well. */
const FINAL: ReadonlySet<TaskErrorCode> = new Set([
  'invalid_input',
  'invalid_output',
  'unknown_agent',
  'nondeterministic',
  'crash_loop',
  'limit_exceeded',
]);
const BASE_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;

/**
 * Fails the attempt of a running task: its agent threw, its worker died by it, or its time is used up. A task that waits can
 * fail by what its code left behind, a timer that throws. There is another attempt as long as `maxAttempts` allows; else
 * the task has failed.
 */
export const failTask: Verb<FailTaskArgs, TaskResult> = {
  needs: ({ taskId }) => ({ trees: [taskId], journals: [taskId] }),
  decide(view, args, now) {
    const current = heldTask(view, args) ?? (args.when === 'deadline' ? null : waitingTask(view, args));
    if (current === null) return leaseLost(args);
    if (args.when === 'deadline' && (current.deadlineAt === null || now < current.deadlineAt)) {
      return refuse('not_due', `${current.id} has time left.`);
    }
    const task = args.when === 'now' ? { ...current, held: false } : current;
    const isLast = task.failures + 1 >= task.maxAttempts || FINAL.has(args.error.code);
    if (!isLast) return retrying(view, task, args, now);
    return endTask(view, task, { status: 'failed', error: args.error, cut: args.cut }, now);
  },
};

function retrying(
  view: View,
  task: TaskRecord,
  { error, cut, jitter }: FailTaskArgs,
  now: number,
): Decision<TaskResult> {
  const delayMs = Math.round(jitter * Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** task.failures));
  const retryAt = now + delayMs;
  const queued = {
    ...moveTask(task, 'queued', now),
    failures: task.failures + 1,
    begins: true,
    ranMs: 0,
    runAt: delayMs === 0 ? null : retryAt,
  };
  const { attempt } = task;
  const retried = newEvent(task.id, 'task.retrying', { attempt, error, retryAt: new Date(retryAt).toISOString() });
  if (cut === null) return accept({ task: queued }, { changes: { tasks: [queued] }, events: [retried] });
  const { task: back, tasks, questions, rows, droppedRows, messages, events } = applyCut(view, queued, cut, now);
  return accept(
    { task: back },
    { changes: { tasks: [back, ...tasks], questions, rows, droppedRows, messages }, events: [retried, ...events] },
  );
}
