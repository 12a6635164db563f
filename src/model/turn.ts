import type { Message, NewEvent } from './event.ts';
import type { Json, JsonObject } from './json.ts';
import { turnLane } from './lane.ts';
import { messageCompleted } from './message.ts';
import { newTask, taskCreated } from './new-task.ts';
import { DEFAULT_MAX_ATTEMPTS, DEFAULT_TASK_TIMEOUT_MS, type TaskRecord } from './task.ts';

/** What somebody wrote, with the ids of the message and of the turn that it begins. */
export interface Written {
  messageId: string;
  taskId: string;
  content: string;
  metadata: JsonObject;
  /** ISO 8601. */
  createdAt: string;
}

export interface BegunTurn {
  task: TaskRecord;
  message: Message;
  events: NewEvent[];
}

/** Puts a turn of a conversation in its line. @param now epoch ms */
export function beginTurn(
  owner: string,
  agent: string,
  conversationId: string,
  written: Written,
  now: number,
): BegunTurn {
  const { taskId, content } = written;
  const limits = { timeoutMs: DEFAULT_TASK_TIMEOUT_MS, maxAttempts: DEFAULT_MAX_ATTEMPTS };
  const input = { message: content, conversationId };
  const given = { id: taskId, owner, agent, input, metadata: {}, priority: 0, concurrencyKey: null, ...limits };
  const task = newTask(given, now, { conversationId, isTurn: true, lane: turnLane(conversationId) });
  const message = userMessage(conversationId, taskId, written);
  return { task, message, events: [messageCompleted(message, null), taskCreated(task)] };
}

export function userMessage(conversationId: string, taskId: string, written: Written): Message {
  const { messageId, content, metadata, createdAt } = written;
  const said = { role: 'user', content, status: 'complete', empty: content === '' } as const;
  return { id: messageId, conversationId, taskId, ...said, metadata, createdAt };
}

/** A message as it lies in the inbox of the turn that it was sent to. */
export function toInbox(written: Written): Json {
  return { ...written };
}

/** The messages that a turn has not taken; whatever else lies in its inbox is nobody's message. */
export function untaken({ inbox }: TaskRecord): Written[] {
  return inbox.filter(isWritten);
}

/** What is left in the inbox of a turn whose messages have begun turns of their own. */
export function withoutWritten({ inbox }: TaskRecord): Json[] {
  return inbox.filter((entry) => !isWritten(entry));
}

function isWritten(entry: Json): entry is Json & Written {
  return entry !== null && typeof entry === 'object' && 'messageId' in entry && 'taskId' in entry;
}

/** The id of the one message of a turn that has said nothing: made of the turn's. */
export function emptyMessageId(taskId: string): string {
  return taskId.replace('task_', 'msg_');
}
