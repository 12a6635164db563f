import { type NewEvent, newEvent } from './event.ts';
import type { Json } from './json.ts';
import type { CancelReason, QuestionRecord } from './question.ts';
import { moveTask, type TaskRecord } from './task.ts';
import type { TaskError } from './task-error.ts';
import { accept, type Decision, type TaskResult } from './verb.ts';
import type { TimerRecord, View } from './view.ts';

/** How a task comes to its end. */
export type Ending =
  | { status: 'completed'; output: Json }
  | { status: 'failed'; error: TaskError }
  | { status: 'cancelled'; reason: string | null };

/**
 * Ends a task whose tree is loaded: its pending questions and unfinished children end in the same transaction, the
 * children first, and its own terminal event is the last of its tree.
 *
 * @see docs/protocol.md §4
 */
export function endTask(view: View, task: TaskRecord, ending: Ending, now: number): Decision<TaskResult> {
  const tasks: TaskRecord[] = [];
  const questions: QuestionRecord[] = [];
  const timers: TimerRecord[] = [];
  const events: NewEvent[] = [];

  const end = (each: TaskRecord, how: Ending): TaskRecord => {
    const reason: CancelReason = how.status === 'cancelled' ? 'cancelled' : 'task_finished';
    for (const child of view.unfinishedChildren(each.id))
      end(child, { status: 'cancelled', reason: 'parent_finished' });
    for (const question of view.pendingQuestions(each.id)) {
      questions.push({ ...question, resolution: { status: 'cancelled', at: now, reason } });
      events.push(newEvent(each.id, 'question.cancelled', { questionId: question.id, reason, resolvedBy: null }));
    }
    for (const timer of view.openTimers(each.id)) timers.push({ ...timer, open: false });
    events.push(terminalEvent(each.id, how));
    const ended = {
      ...moveTask(each, how.status, now),
      output: how.status === 'completed' ? how.output : null,
      error: how.status === 'failed' ? how.error : null,
      pendingQuestionCount: 0,
    };
    tasks.push(ended);
    return ended;
  };

  const ended = end(task, ending);
  return accept({ task: ended }, { changes: { tasks, questions, timers }, events });
}

function terminalEvent(taskId: string, ending: Ending): NewEvent {
  switch (ending.status) {
    case 'completed':
      return newEvent(taskId, 'task.completed', { output: ending.output });
    case 'failed':
      return newEvent(taskId, 'task.failed', { error: ending.error });
    case 'cancelled':
      return newEvent(taskId, 'task.cancelled', { reason: ending.reason });
  }
}
