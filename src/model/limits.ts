import type { ConversationRecord } from './conversation.ts';
import type { LogRecord } from './log-record.ts';
import { MAX_TASK_DEPTH, type TaskRecord } from './task.ts';
import { type Decision, refuse } from './verb.ts';

// What a task and an owner may come to. docs/limits.md says of each why it is so much, and what happens then.

/** Events of one task, its children's not counted. The worker's write that passes it is stored; the next is refused. */
export const MAX_TASK_EVENTS = 100_000;
/** The JSON of their data together, in code units. */
export const MAX_TASK_EVENTS_LENGTH = 256 * 1024 * 1024;
export const MAX_TASK_QUESTIONS = 100;
/** Unfinished tasks below a root, at whatever depth. */
export const MAX_UNFINISHED_BELOW = 1000;
/** Of one conversation, children not counted: one message may interrupt them all, in one transaction. */
export const MAX_CONVERSATION_UNFINISHED = 100;
/** Tasks of one owner without a parent that have not ended, and questions that are pending, unless the operator says otherwise. */
export const DEFAULT_MAX_UNFINISHED = 10_000;

/** Which of its limits a task has passed, in words; null while it may go on. What has passed one stays so. */
export function passedLimit({ eventCount, eventsLength }: TaskRecord): string | null {
  if (eventCount > MAX_TASK_EVENTS) return `A task may have ${MAX_TASK_EVENTS} events.`;
  if (eventsLength > MAX_TASK_EVENTS_LENGTH) {
    return `The events of a task may hold ${MAX_TASK_EVENTS_LENGTH / 1024 / 1024} MiB of JSON in all.`;
  }
  return null;
}

/** Why a running task may ask no more questions just now; null when it may. */
export function questionLimit(
  task: TaskRecord,
  { pendingQuestions }: LogRecord,
  { maxUnfinished = DEFAULT_MAX_UNFINISHED }: UnfinishedLimit,
): string | null {
  if (task.pendingQuestionCount >= MAX_TASK_QUESTIONS) {
    return `A task may have ${MAX_TASK_QUESTIONS} questions pending at once.`;
  }
  if (pendingQuestions >= maxUnfinished) {
    return `All tasks together may have ${maxUnfinished} questions pending at once.`;
  }
  return null;
}

/** Why a child cannot begin; null when it can. @param root of its tree */
export function childLimit({ depth }: TaskRecord, root: TaskRecord | null): string | null {
  if (depth > MAX_TASK_DEPTH) return `Children may nest ${MAX_TASK_DEPTH} deep.`;
  const unfinished = root?.unfinishedBelow ?? 0;
  return unfinished < MAX_UNFINISHED_BELOW ? null : `There may be ${MAX_UNFINISHED_BELOW} unfinished tasks below one.`;
}

/** What a verb carries that begins a root task or asks a question. */
export interface UnfinishedLimit {
  /** How many unfinished roots, or pending questions, the owner may have; absent: {@link DEFAULT_MAX_UNFINISHED}. */
  maxUnfinished?: number | undefined;
}

/** Why there may not be another unfinished root. */
export function fullWords(unfinishedRoots: number, maxUnfinished: number): string {
  return `There are ${unfinishedRoots} unfinished tasks, and may be ${maxUnfinished}.`;
}

/**
 * Refuses a root task that would be one too many; null when there is room. Decided under the owner's lock, so that of
 * those that race for the last place one gets it.
 *
 * @param conversation that it is to belong to; null for none
 * @param fewer how many of the conversation's unfinished ones the same verb ends
 */
export function refuseWhenFull(
  { unfinishedRoots }: LogRecord,
  conversation: ConversationRecord | null,
  { maxUnfinished = DEFAULT_MAX_UNFINISHED }: UnfinishedLimit,
  fewer = 0,
): Decision<never> | null {
  if (unfinishedRoots - fewer >= maxUnfinished)
    return refuse('rate_limited', fullWords(unfinishedRoots, maxUnfinished));
  if (conversation === null || conversation.unfinishedRoots - fewer < MAX_CONVERSATION_UNFINISHED) return null;
  return refuse('rate_limited', `A conversation may have ${MAX_CONVERSATION_UNFINISHED} unfinished tasks.`);
}
