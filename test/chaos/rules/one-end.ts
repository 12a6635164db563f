import { isDeepStrictEqual } from 'node:util';
import type { Task } from '../../../src/model/task.ts';
import { eventsByTask, isTerminal, type Logged } from '../story.ts';
import type { Rule } from './rule.ts';

export const oneEnd: Rule = {
  name: 'a task has one end, its last event, behind those of its children, and the task shows it',
  *judge({ log, tasks }) {
    const byTask = eventsByTask(log);
    const shown = new Map(tasks.map((task) => [task.id, task]));
    for (const [id, events] of byTask) {
      const task = shown.get(id);
      const ends = events.filter(isTerminal);
      const [end] = ends;
      if (events[0]?.type !== 'task.created')
        yield { text: `${id} does not begin by being created.`, evidence: events[0] };
      if (ends.length > 1) yield { text: `${id} has ${ends.length} ends.`, evidence: ends };
      if (end !== undefined && end !== events.at(-1)) {
        yield { text: `${id} goes on behind its end.`, evidence: events.slice(events.indexOf(end)) };
      }
      if (task === undefined) yield { text: `${id} is in the log and not among the tasks.`, evidence: events[0] };
      else if (!agrees(task, end)) yield { text: `${id} is not shown as it ended.`, evidence: { task, end } };
    }
    for (const task of tasks) {
      const end = byTask.get(task.id)?.find(isTerminal);
      if (!byTask.has(task.id)) yield { text: `${task.id} is among the tasks and not in the log.`, evidence: task };
      const parentEnd = byTask.get(task.parentId ?? '')?.find(isTerminal);
      if (parentEnd !== undefined && !(end !== undefined && end.seq < parentEnd.seq)) {
        yield { text: `${task.id} did not end before its parent.`, evidence: { end, parentEnd } };
      }
    }
  },
};

function agrees({ status, output, error }: Task, end: Logged | undefined): boolean {
  switch (end?.type) {
    case 'task.completed':
      return status === 'completed' && isDeepStrictEqual(output, end.data.output);
    case 'task.failed':
      return status === 'failed' && isDeepStrictEqual(error, end.data.error);
    case 'task.cancelled':
      return status === 'cancelled';
    default:
      return status === 'queued' || status === 'running' || status === 'waiting';
  }
}
