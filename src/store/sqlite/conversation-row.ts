import type { ConversationRecord } from '../../model/conversation.ts';
import { insertInto, selectColumns } from './columns.ts';
import { conversation } from './conversation-schema.ts';

export type ConversationRead = typeof conversation.$inferSelect;

/** Reads whole conversations, deleted ones too; a `where` may name `conversation` and `log`. */
export const SELECT_CONVERSATION = `select ${selectColumns(conversation, 'conversation')}
  from conversation join log on log.id = conversation.log`;

export const PUT_CONVERSATION = `${insertInto(conversation, 'conversation')}
  on conflict (log, id) do update set title = excluded.title, metadata = excluded.metadata, agent = excluded.agent,
    last_activity_at = excluded.last_activity_at, pruned_seq = excluded.pruned_seq,
    unfinished_roots = excluded.unfinished_roots, deleted_at = excluded.deleted_at`;

export function toConversation(row: ConversationRead): ConversationRecord {
  const { id, title, metadata, agent, createdAt, lastActivityAt, prunedSeq, unfinishedRoots, deletedAt } = row;
  const times = { createdAt, lastActivityAt, prunedSeq, deletedAt };
  return { id, title, metadata: JSON.parse(metadata), agent, ...times, unfinishedRoots };
}

export function fromConversation(record: ConversationRecord, logId: number): Omit<ConversationRead, 'key'> {
  return { ...record, metadata: JSON.stringify(record.metadata), log: logId, purged: 0 };
}
