import { type NewEvent, newEvent } from './event.ts';
import { type QuestionRecord, type Resolution, toQuestion } from './question.ts';
import { resumed } from './resume.ts';
import type { TaskRecord } from './task.ts';
import { accept, type Decision, type QuestionResult, type ResolvedOutcome, refuse } from './verb.ts';
import type { View } from './view.ts';

/**
 * Resolves a pending question whose task is loaded: writes the resolution, tells it, and wakes the task if it waits.
 * Every way for a question to end but its task's own end goes through here.
 */
export function closeQuestion(view: View, question: QuestionRecord, resolution: Resolution): Decision<QuestionResult> {
  const task = view.task(question.taskId);
  if (task === null) throw new Error(`The task of ${question.id} is not loaded.`);
  const closed = { ...question, resolution };
  const woken = resumed(oneQuestionLess(task), resolution.at);
  return accept(
    { question: closed },
    {
      changes: { tasks: [woken.task], questions: [closed] },
      events: [resolutionEvent(question, resolution), ...woken.events],
      resolutions: [{ taskId: task.id, key: question.name, outcome: agentOutcome(resolution) }],
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

function oneQuestionLess(task: TaskRecord): TaskRecord {
  return { ...task, pendingQuestionCount: task.pendingQuestionCount - 1 };
}

function resolutionEvent({ taskId, id: questionId }: QuestionRecord, resolution: Resolution): NewEvent {
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

function agentOutcome(resolution: Resolution): ResolvedOutcome {
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
