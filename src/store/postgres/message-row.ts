import type { Message } from '../../model/event.ts';
import { insertGiven, selectColumns } from './columns.ts';
import { message } from './conversation-schema.ts';
import { fromText, toText } from './escape.ts';
import { statement } from './statement.ts';

type MessageRow = typeof message.$inferSelect;

/** A message as it is read: its row, and the ids of its task and conversation. */
export type MessageRead = MessageRow & { taskId: string; conversationId: string };

/** Reads whole messages; a `where` may name `message`, `task`, `conversation` and `log`. */
export const SELECT_MESSAGE = `select ${selectColumns(message, 'message')}, task.id as "taskId", conversation.id as "conversationId"
  from holdfast.message join holdfast.task on task.key = message.task
  join holdfast.conversation on conversation.key = message.conversation join holdfast.log on log.id = message.log`;

/** Only the task of a message changes: when it was sent to a turn that ends without having taken it. */
export const PUT_MESSAGES = statement(
  `${insertGiven(
    message,
    { taskId: 'text', conversationId: 'text' },
    {
      task: 'coalesce(given.task, (select key from holdfast.task where log = given.log and id = given."taskId"))',
      conversation: `coalesce(given.conversation,
    (select key from holdfast.conversation where log = given.log and id = given."conversationId"))`,
    },
  )} on conflict (log, id) do update set task = excluded.task`,
);

export function toMessage(row: MessageRead): Message {
  const { id, conversationId, taskId, role, status, metadata, createdAt } = row;
  const content = fromText(row.content);
  const said = { role, content, status, empty: content === '', metadata: JSON.parse(metadata) };
  return { id, conversationId, taskId, ...said, createdAt: new Date(createdAt).toISOString() };
}

/** A row for {@link PUT_MESSAGES}. @param keys of its task and conversation; null where the same transaction makes that */
export function fromMessage(
  { id, conversationId, taskId, role, content, status, metadata, createdAt }: Message,
  logId: number,
  keys: { task: number | null; conversation: number | null },
) {
  const said = { role, status, createdAt: Date.parse(createdAt), metadata: JSON.stringify(metadata) };
  return { ...keys, log: logId, id, taskId, conversationId, ...said, content: toText(content) };
}
