import { type EventData, newEvent } from '../event.ts';
import { type Lease, refuseWork, workingTask } from '../fence.ts';
import type { JournalRow, RowKind } from '../journal.ts';
import type { QuestionRecord } from '../question.ts';
import { moveTask } from '../task.ts';
import { accept, refuse, type Verb } from '../verb.ts';

export interface WaitTaskArgs extends Lease {
  /** The place of the last resolution that the copy has delivered. */
  ord: number;
  /** The keys of all questions, sleeps and children that the agent's code waits for. At least one. */
  keys: string[];
}

/** `already`: something was resolved that the copy has not delivered, the task stays running. */
export type WaitTaskResult = 'waiting' | 'already';

/** Whom or what a task waits for, by the kind of row. Whatever else is pending is the copy's own to go on with. */
const WAITS_FOR: Partial<Record<RowKind, EventData['task.waiting']['for'][number]>> = {
  ask: 'people',
  sleep: 'timer',
  child: 'children',
};

/**
 * Puts a task to rest that can do nothing until a person, a timer or a child does. No wake-up is lost between the two: a
 * resolution that the copy does not know of is one above its `ord`.
 */
export const waitTask: Verb<WaitTaskArgs, WaitTaskResult> = {
  needs: ({ taskId }) => ({ pending: [taskId] }),
  decide(view, args, now) {
    const task = workingTask(view, args);
    if (task === null) return refuseWork(view, args);
    if (task.ord > args.ord) return accept('already');
    const keys = new Set(args.keys);
    const rows = view.rows(task.id).filter((row) => row.status === 'pending' && keys.has(row.key));
    const kinds = new Set(rows.map(({ kind }) => WAITS_FOR[kind]));
    if (rows.length === 0 || rows.length < keys.size || kinds.has(undefined)) {
      return refuse('internal', 'A task that waits for what nobody else resolves would never wake.');
    }
    const questions = view.pendingQuestions(task.id).filter(({ name }) => keys.has(name));
    const waiting = newEvent(task.id, 'task.waiting', {
      questionIds: questions.map(({ id }) => id),
      until: nearest(questions, rows),
      for: (['people', 'timer', 'children'] as const).filter((whom) => kinds.has(whom)),
    });
    const resting = { ...moveTask(task, 'waiting', now), held: false };
    return accept('waiting', { changes: { tasks: [resting] }, events: [waiting] });
  },
};

/** When the first of the deadlines is, ISO 8601; null when there is none. */
function nearest(questions: readonly QuestionRecord[], rows: readonly JournalRow[]): string | null {
  const deadlines = [...questions.map(({ expiresAt }) => expiresAt), ...rows.map(({ dueAt }) => dueAt)];
  const at = Math.min(...deadlines.map((deadline) => deadline ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(at) ? new Date(at).toISOString() : null;
}
