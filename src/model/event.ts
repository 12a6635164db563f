import { type Json, utf8Bytes } from './json.ts';
import type { CancelReason, Question } from './question.ts';
import type { Progress } from './task.ts';
import type { TaskError } from './task-error.ts';

/** A message as the wire shows it. @see docs/protocol.md §7 */
export interface Message {
  id: string;
  conversationId: string | null;
  taskId: string;
  role: 'user' | 'assistant';
  content: string;
  status: 'complete' | 'partial';
  empty: boolean;
  metadata: { [key: string]: Json };
  createdAt: string;
}

/** The server's own events and what each tells. @see docs/protocol.md §8 */
export interface EventData {
  'task.created': { agent: string; input: Json; parentId: string | null; retryOf: string | null };
  'task.started': { attempt: number };
  'task.waiting': { questionIds: string[]; until: string | null; for: ('people' | 'timer')[] };
  'task.resumed': Record<string, never>;
  'task.progress': Progress;
  'task.completed': { output: Json };
  'task.failed': { error: TaskError };
  'task.cancelled': { reason: string | null };
  'question.asked': { question: Question };
  'question.answered': { questionId: string; answers: { [itemId: string]: Json }; resolvedBy: string };
  'question.declined': { questionId: string; reason: string | null; resolvedBy: string };
  'question.expired': { questionId: string; resolvedBy: null };
  'question.cancelled': { questionId: string; reason: CancelReason; resolvedBy: null };
  'message.started': { messageId: string; role: 'assistant' };
  'message.delta': { messageId: string; text: string };
  'message.completed': { message: Message };
  'message.discarded': { messageId: string; reason: string };
  'step.started': { name: string; attempt: number };
  'step.completed': { name: string; attempt: number; ms: number };
  'step.failed': { name: string; attempt: number; error: TaskError; retryInMs: number | null };
  'tool.called': { toolCallId: string; name: string; input: Json };
  /** `truncated`: the output is over 64 KiB, and null here. */
  'tool.returned': { toolCallId: string; output: Json; truncated?: true } | { toolCallId: string; error: TaskError };
}

export type ServerEventType = keyof EventData;

/** Which step an event was sent from: a higher attempt voids what an earlier one sent. */
export interface StepRef {
  /** The step's key: `charge`, `charge#2`. */
  name: string;
  attempt: number;
}

/** What happened, before the log has given it a place. `data` is JSON text, so that it crosses threads as it is stored. */
export interface NewEvent {
  taskId: string;
  type: string;
  /** JSON text of a {@link StepRef}; null for what the task itself did. */
  step: string | null;
  data: string;
}

/** A fact in an owner's log. Immutable once written. */
export interface Event extends NewEvent {
  seq: number;
  /** Epoch ms, the same for all events of one transaction. */
  at: number;
  /** The task at the top of its tree, whose stream it belongs to as well. */
  rootId: string;
}

/** Writes one of the server's own events. */
export function newEvent<T extends ServerEventType>(taskId: string, type: T, data: EventData[T]): NewEvent {
  return { taskId, type, step: null, data: JSON.stringify(data) };
}

/** Whether a task ends with it. */
export function isTerminalEvent(type: string): boolean {
  return type === 'task.completed' || type === 'task.failed' || type === 'task.cancelled';
}

/** The event as clients see it, on one line. */
export function eventJson(event: Event): string {
  const at = isoTime(event.at);
  const step = event.step === null ? '' : `,"step":${event.step}`;
  return `{"seq":${event.seq},"type":"${event.type}","taskId":"${event.taskId}","conversationId":null,"at":"${at}","data":${event.data}${step}}`;
}

let lastTime = { ms: 0, iso: '1970-01-01T00:00:00.000Z' };

/** Events come in batches of one instant: the text of the last one mostly serves again. */
function isoTime(ms: number): string {
  if (ms !== lastTime.ms) lastTime = { ms, iso: new Date(ms).toISOString() };
  return lastTime.iso;
}

const AGENT_EVENT_TYPE = /^[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)+$/;
const SERVER_PREFIX = /^(task|question|message|conversation|step|tool)\./;
const MAX_TYPE_LENGTH = 64;
export const MAX_EVENT_BYTES = 64 * 1024;

/**
 * What is wrong with an event that an agent wants to emit; null when it is good.
 *
 * @param data JSON text
 */
export function agentEventFault(type: string, data: string): string | null {
  if (type.length > MAX_TYPE_LENGTH || !AGENT_EVENT_TYPE.test(type)) {
    return `"${type.slice(0, MAX_TYPE_LENGTH)}" is not an event type: lower case, dotted, at most ${MAX_TYPE_LENGTH} characters.`;
  }
  if (SERVER_PREFIX.test(type)) return `"${type}" is a name that belongs to the server.`;
  // No code unit takes more than three bytes: mostly there is nothing to count.
  if (data.length * 3 > MAX_EVENT_BYTES && utf8Bytes(data) > MAX_EVENT_BYTES) {
    return `An event's data may hold ${MAX_EVENT_BYTES} bytes of JSON.`;
  }
  return null;
}
