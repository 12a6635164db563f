import { z } from 'zod';
import type { Conversation } from './conversation.ts';
import { type Json, utf8Bytes } from './json.ts';
import type { CancelReason, Question } from './question.ts';
import type { Progress } from './task.ts';
import type { TaskError } from './task-error.ts';

/** The wire form of a message. @see docs/protocol.md §7 */
export const messageSchema = z.object({
  id: z.string(),
  conversationId: z.string().nullable(),
  taskId: z.string(),
  role: z.enum(['user', 'assistant']),
  content: z.string(),
  status: z.enum(['complete', 'partial']),
  empty: z.boolean(),
  metadata: z.record(z.string(), z.json()),
  createdAt: z.iso.datetime(),
});

export type Message = z.infer<typeof messageSchema>;

/** The server's own events and what each tells. @see docs/protocol.md §8 */
export interface EventData {
  'task.created': { agent: string; input: Json; parentId: string | null; retryOf: string | null };
  'task.started': { attempt: number };
  'task.waiting': { questionIds: string[]; until: string | null; for: ('people' | 'timer' | 'children')[] };
  'task.resumed': Record<string, never>;
  /** `attempt`: the one that failed. `retryAt`: not before then, ISO 8601. */
  'task.retrying': { attempt: number; error: TaskError; retryAt: string };
  /** `attempt`: the one that was lost. */
  'task.recovered': { attempt: number; reason: 'crashed' | 'worker_lost' };
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
  'message.discarded': { messageId: string; reason: 'step_failed' | 'step_interrupted' };
  'step.started': { name: string; attempt: number };
  'step.completed': { name: string; attempt: number; ms: number };
  'step.failed': { name: string; attempt: number; error: TaskError; retryInMs: number | null };
  'tool.called': { toolCallId: string; name: string; input: Json };
  /** `truncated`: the output is over 64 KiB, and null here. */
  'tool.returned': { toolCallId: string; output: Json; truncated?: true } | { toolCallId: string; error: TaskError };
  'conversation.created': { conversation: Conversation };
  'conversation.updated': { conversation: Conversation };
  'conversation.deleted': { conversationId: string };
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
  /** Null for what happened to a conversation itself. */
  taskId: string | null;
  /** Only of an event of no task: any other belongs to its task's conversation. */
  conversationId: string | null;
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
  /** The task at the top of its tree, whose stream it belongs to as well. Null for an event of no task. */
  rootId: string | null;
}

/** Writes one of the server's own events of a task. */
export function newEvent<T extends ServerEventType>(taskId: string, type: T, data: EventData[T]): NewEvent {
  return { taskId, conversationId: null, type, step: null, data: JSON.stringify(data) };
}

/** Writes an event of a conversation itself. */
export function conversationEvent<T extends ServerEventType & `conversation.${string}`>(
  conversationId: string,
  type: T,
  data: EventData[T],
): NewEvent {
  return { taskId: null, conversationId, type, step: null, data: JSON.stringify(data) };
}

/** Whether a task ends with it. */
export function isTerminalEvent(type: string): boolean {
  return type === 'task.completed' || type === 'task.failed' || type === 'task.cancelled';
}

/** The event as clients see it, on one line. */
export function eventJson(event: Event): string {
  const at = isoTime(event.at);
  const step = event.step === null ? '' : `,"step":${event.step}`;
  const root = event.rootId === event.taskId ? '' : `"rootId":${quoted(event.rootId)},`;
  const ids = `"taskId":${quoted(event.taskId)},${root}"conversationId":${quoted(event.conversationId)}`;
  return `{"seq":${event.seq},"type":"${event.type}",${ids},"at":"${at}","data":${event.data}${step}}`;
}

/** An id holds nothing that JSON would escape. */
function quoted(id: string | null): string {
  return id === null ? 'null' : `"${id}"`;
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
