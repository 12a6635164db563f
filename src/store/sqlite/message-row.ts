import type { Message } from '../../model/event.ts';
import { insertInto, selectColumns } from './columns.ts';
import { message } from './conversation-schema.ts';

type MessageRow = typeof message.$inferSelect;

/** A message as it is read: its row, and the ids of its task and conversation. */
export type MessageRead = MessageRow & { taskId: string; conversationId: string };

/** Reads whole messages; a `where` may name `message`, `task`, `conversation` and `log`. */
export const SELECT_MESSAGE = `select ${selectColumns(message, 'message')}, task.id as taskId, conversation.id as conversationId
  from message join task on task.key = message.task join conversation on conversation.key = message.conversation
  join log on log.id = message.log`;

/** Only the task of a message changes: when it was sent to a turn that ends without having taken it. */
export const PUT_MESSAGE = `${insertInto(message, 'message')} on conflict (log, id) do update set task = excluded.task`;

export function toMessage(row: MessageRead): Message {
  const { id, conversationId, taskId, role, content, status, metadata, createdAt } = row;
  const said = { role, content, status, empty: content === '', metadata: JSON.parse(metadata) };
  return { id, conversationId, taskId, ...said, createdAt: new Date(createdAt).toISOString() };
}

export function fromMessage(
  { id, role, content, status, metadata, createdAt }: Message,
  logId: number,
  taskKey: number,
  conversationKey: number,
): Omit<MessageRow, 'key'> {
  const said = { role, status, createdAt: Date.parse(createdAt), metadata: JSON.stringify(metadata), content };
  return { log: logId, id, conversation: conversationKey, task: taskKey, ...said };
}
