import { type EventData, type Message, type NewEvent, newEvent, type StepRef } from './event.ts';
import type { JournalRow } from './journal.ts';
import type { TaskRecord } from './task.ts';

/** A message that has come to its end: the event that tells it, and what is stored of it beside. */
interface Said {
  task: TaskRecord;
  event: NewEvent;
  /** Empty for a task that is no turn: what that says is in its events alone. */
  messages: Message[];
}

/**
 * The end of what an assistant says. `partial`: no more is going to come.
 *
 * @param step that said it; null for the empty message of a turn that said nothing
 */
export function said(
  task: TaskRecord,
  step: StepRef | null,
  { id, content, status }: Pick<Message, 'id' | 'content' | 'status'>,
  now: number,
): Said {
  const message: Message = {
    id,
    conversationId: task.conversationId,
    taskId: task.id,
    role: 'assistant',
    content,
    status,
    empty: content === '',
    metadata: {},
    createdAt: new Date(now).toISOString(),
  };
  const event = messageCompleted(message, step);
  if (!task.isTurn) return { task, event, messages: [] };
  return { task: { ...task, messageCount: task.messageCount + 1 }, event, messages: [message] };
}

export function messageCompleted(message: Message, step: StepRef | null): NewEvent {
  const event = newEvent(message.taskId, 'message.completed', { message });
  return step === null ? event : { ...event, step: JSON.stringify(step) };
}

/** Tells people to drop what they were shown of a message: its step runs again, or has never been. */
export function messageDiscarded(taskId: string, step: StepRef, data: EventData['message.discarded']): NewEvent {
  return { ...newEvent(taskId, 'message.discarded', data), step: JSON.stringify(step) };
}

/** The attempt of a step that its row knows of. */
export function stepRef({ key, tries }: JournalRow): StepRef {
  return { name: key, attempt: tries };
}
