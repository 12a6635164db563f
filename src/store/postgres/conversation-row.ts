import type { ConversationRecord } from '../../model/conversation.ts';
import { assignExcluded, insertGiven, selectColumns } from './columns.ts';
import { conversation } from './conversation-schema.ts';
import { fromText, toText } from './escape.ts';
import { statement } from './statement.ts';

export type ConversationRead = typeof conversation.$inferSelect;

/** Reads whole conversations, deleted ones too; a `where` may name `conversation` and `log`. */
export const SELECT_CONVERSATION = `select ${selectColumns(conversation, 'conversation')}
  from holdfast.conversation join holdfast.log on log.id = conversation.log`;

const KEPT: ReadonlySet<string> = new Set(['key', 'log', 'id', 'createdAt', 'purged']);

/** Of several conversations, given as `$1`. */
export const PUT_CONVERSATIONS = statement(`${insertGiven(conversation)}
  on conflict (log, id) do update set ${assignExcluded(conversation, (field) => !KEPT.has(field))}`);

export function toConversation(row: ConversationRead): ConversationRecord {
  const { id, createdAt, lastActivityAt, prunedSeq, unfinishedRoots, deletedAt } = row;
  const times = { createdAt, lastActivityAt, prunedSeq, deletedAt };
  const words = { title: fromText(row.title), metadata: JSON.parse(row.metadata), agent: fromText(row.agent) };
  return { id, ...words, ...times, unfinishedRoots };
}

export function fromConversation(record: ConversationRecord, logId: number): Omit<ConversationRead, 'key'> {
  const { title, agent, metadata } = record;
  const words = { title: toText(title), agent: toText(agent), metadata: JSON.stringify(metadata) };
  return { ...record, ...words, log: logId, purged: false };
}
