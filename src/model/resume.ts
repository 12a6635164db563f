import { type NewEvent, newEvent } from './event.ts';
import { moveTask, type TaskRecord } from './task.ts';

/**
 * The task after one of the things it may wait for has come: queued if it was waiting, else as it was. That it has come to
 * a wait clears it of the crashes before.
 */
export function resumed(task: TaskRecord, now: number): { task: TaskRecord; events: NewEvent[] } {
  if (task.status !== 'waiting') return { task, events: [] };
  return { task: { ...moveTask(task, 'queued', now), crashes: 0 }, events: [newEvent(task.id, 'task.resumed', {})] };
}
