import { passedLimit } from './limits.ts';
import type { TaskRecord } from './task.ts';
import { type Decision, refuse } from './verb.ts';
import type { View } from './view.ts';

/** What every write of a worker carries: which task it holds, and by which claim. */
export interface Lease {
  taskId: string;
  fence: number;
}

/** The task that a worker holds, or null when it has lost it: claimed again, waiting, or ended. */
export function heldTask(view: View, { taskId, fence }: Lease): TaskRecord | null {
  const task = view.task(taskId);
  return task !== null && task.fence === fence && task.status === 'running' ? task : null;
}

/** The same, if it has passed none of its limits: what its code may write for. */
export function workingTask(view: View, lease: Lease): TaskRecord | null {
  const task = heldTask(view, lease);
  return task === null || passedLimit(task) !== null ? null : task;
}

/** Says why there is no {@link workingTask}. */
export function refuseWork(view: View, lease: Lease): Decision<never> {
  const task = heldTask(view, lease);
  const limit = task === null ? null : passedLimit(task);
  return limit === null ? leaseLost(lease) : refuse('limit_exceeded', limit);
}

/** The task that waits under this claim, or null when it has been woken or has ended. */
export function waitingTask(view: View, { taskId, fence }: Lease): TaskRecord | null {
  const task = view.task(taskId);
  return task !== null && task.fence === fence && task.status === 'waiting' ? task : null;
}

export function leaseLost({ taskId, fence }: Lease): Decision<never> {
  return refuse('lease_lost', `${taskId} is no longer held under fence ${fence}.`);
}
