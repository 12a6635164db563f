import type { Reply } from './agent.ts';
import { type NewEvent, newEvent } from './event.ts';
import { type QuestionRecord, type Resolution, toQuestion } from './question.ts';
import { resolveRow } from './resolving.ts';
import { rowOf } from './row.ts';
import type { TaskRecord } from './task.ts';
import { accept, type Decision, type QuestionResult, refuse } from './verb.ts';
import type { View } from './view.ts';

/**
 * Resolves a pending question whose task is loaded, and the row of the journal that waits for it: writes the resolution,
 * tells it, and wakes the task if it waits. Every way for a question to end goes through here, but for its task's own end
 * and a cut of its journal.
 *
 * @throws Error when the task or the row is not there: a bug, since a question is pending only in an unfinished task
 */
export function closeQuestion(view: View, question: QuestionRecord, resolution: Resolution): Decision<QuestionResult> {
  const task = view.task(question.taskId);
  if (task === null) throw new Error(`The task of ${question.id} is not loaded.`);
  const row = rowOf(view, { taskId: task.id, key: question.name }, 'ask');
  if (row === null) throw new Error(`No row of ${task.id} waits for ${question.id}.`);
  const closed = { ...question, resolution };
  const reply = replyOf(resolution);
  const to = { status: reply.status, value: JSON.stringify(reply) };
  const resolved = resolveRow(oneQuestionLess(task), row, to, resolution.at);
  return accept(
    { question: closed },
    {
      changes: { tasks: [resolved.task], questions: [closed], rows: [resolved.row] },
      events: [resolutionEvent(question, resolution), ...resolved.events],
      resolutions: [resolved.resolution],
    },
  );
}

/** Refuses what came too late for an open question, and expires it in the same transaction. */
export function closeExpired(view: View, question: QuestionRecord, now: number): Decision<QuestionResult> {
  const expired = closeQuestion(view, question, { status: 'expired', at: now });
  const closed = { ...question, resolution: { status: 'expired', at: now } } satisfies QuestionRecord;
  return { ...expired, outcome: alreadyResolved(closed).outcome };
}

/** Refuses what came after another resolution, and shows that one. */
export function alreadyResolved(question: QuestionRecord): Decision<never> {
  const wire = toQuestion(question);
  return refuse('question_resolved', `The question is already ${wire.status}.`, { question: wire });
}

export function isOverdue(question: QuestionRecord, now: number): boolean {
  return question.expiresAt !== null && now >= question.expiresAt;
}

export function oneQuestionLess(task: TaskRecord): TaskRecord {
  return { ...task, pendingQuestionCount: task.pendingQuestionCount - 1 };
}

export function resolutionEvent({ taskId, id: questionId }: QuestionRecord, resolution: Resolution): NewEvent {
  switch (resolution.status) {
    case 'answered': {
      const { answers, resolvedBy } = resolution;
      return newEvent(taskId, 'question.answered', { questionId, answers, resolvedBy });
    }
    case 'declined': {
      const { reason, resolvedBy } = resolution;
      return newEvent(taskId, 'question.declined', { questionId, reason, resolvedBy });
    }
    case 'expired':
      return newEvent(taskId, 'question.expired', { questionId, resolvedBy: null });
    case 'cancelled':
      return newEvent(taskId, 'question.cancelled', { questionId, reason: resolution.reason, resolvedBy: null });
  }
}

/** What the agent's code is told. */
function replyOf(resolution: Resolution): Reply {
  switch (resolution.status) {
    case 'answered':
      return { status: 'answered', answers: resolution.answers, resolvedBy: resolution.resolvedBy };
    case 'declined':
      return { status: 'declined', reason: resolution.reason };
    case 'expired':
      return { status: 'expired' };
    case 'cancelled':
      return { status: 'withdrawn' };
  }
}
