import { isServerEvent, type LogEvent, type ServerEvent, type Task } from '../../client/index.ts';
import type { TaskFilter } from '../route.ts';

/** The newest page as it is now, in front of what was read of older ones. */
export function mergedTasks(newest: readonly Task[], known: readonly Task[], filter: TaskFilter): Task[] {
  const ids = new Set(newest.map(({ id }) => id));
  const oldest = newest.at(-1)?.id ?? '';
  // What is not in the newest page any more, and is not older than it, has gone.
  const older = known.filter(({ id, status }) => !ids.has(id) && id < oldest && passes(status, filter));
  return [...newest, ...older];
}

/** Shows at once what an event tells of a task in the list; the same list when that is nothing. */
export function withTaskEvent(tasks: readonly Task[], event: LogEvent, filter: TaskFilter): readonly Task[] {
  const task = tasks.find(({ id }) => id === event.taskId);
  if (task === undefined || !isServerEvent(event)) return tasks;
  const changed = { ...task, ...changeOf(event) };
  return tasks.flatMap((each) => (each !== task ? each : passes(changed.status, filter) ? changed : []));
}

function changeOf(event: ServerEvent): Partial<Task> {
  switch (event.type) {
    case 'task.started':
      return { status: 'running', attempt: event.data.attempt };
    case 'task.resumed':
      return { status: 'running' };
    case 'task.waiting':
      return { status: 'waiting' };
    case 'task.recovered':
    case 'task.retrying':
      return { status: 'queued' };
    case 'task.progress':
      return { progress: event.data };
    case 'task.completed':
      return { status: 'completed', output: event.data.output, finishedAt: event.at };
    case 'task.failed':
      return { status: 'failed', error: event.data.error, finishedAt: event.at };
    case 'task.cancelled':
      return { status: 'cancelled', finishedAt: event.at };
    default:
      return {};
  }
}

function passes(status: Task['status'], filter: TaskFilter): boolean {
  if (filter.status === null) return true;
  if (filter.status !== 'unfinished') return filter.status === status;
  return status === 'queued' || status === 'running' || status === 'waiting';
}
