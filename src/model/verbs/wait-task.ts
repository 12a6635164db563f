import { newEvent } from '../event.ts';
import { heldTask, type Lease, leaseLost } from '../fence.ts';
import { moveTask } from '../task.ts';
import { accept, refuse, type Verb } from '../verb.ts';

export interface WaitTaskArgs extends Lease {
  /** The keys of all questions and timers that the agent's code waits for. At least one. */
  keys: string[];
}

/** `already`: one of the keys was resolved meanwhile, the task stays running. */
export type WaitTaskResult = 'waiting' | 'already';

/** Puts a task to rest that can do nothing until a person or a timer does. No wake-up is lost between the two. */
export const waitTask: Verb<WaitTaskArgs, WaitTaskResult> = {
  needs: ({ taskId }) => ({ trees: [taskId] }),
  decide(view, args, now) {
    const task = heldTask(view, args);
    if (task === null) return leaseLost(args);
    if (args.keys.length === 0) return refuse('internal', 'A task that waits for nothing would never wake.');
    const questions = view.pendingQuestions(task.id).filter(({ name }) => args.keys.includes(name));
    const timers = view.openTimers(task.id).filter(({ key }) => args.keys.includes(key));
    const open = new Set([...questions.map(({ name }) => name), ...timers.map(({ key }) => key)]);
    if (!args.keys.every((key) => open.has(key))) return accept('already');
    const deadlines = [...questions.map(({ expiresAt }) => expiresAt), ...timers.map(({ dueAt }) => dueAt)];
    const nearest = Math.min(...deadlines.map((at) => at ?? Number.POSITIVE_INFINITY));
    const waiting = newEvent(task.id, 'task.waiting', {
      questionIds: questions.map(({ id }) => id),
      until: Number.isFinite(nearest) ? new Date(nearest).toISOString() : null,
      for: [...(questions.length > 0 ? (['people'] as const) : []), ...(timers.length > 0 ? (['timer'] as const) : [])],
    });
    return accept('waiting', { changes: { tasks: [moveTask(task, 'waiting', now)] }, events: [waiting] });
  },
};
