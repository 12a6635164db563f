import type { Database } from 'better-sqlite3';
import type { Queries } from '../store.ts';
import { type ConversationRead, SELECT_CONVERSATION, toConversation } from './conversation-row.ts';
import { type MessageRead, SELECT_MESSAGE, toMessage } from './message-row.ts';
import type { Synchronous } from './synchronous.ts';

interface Page {
  owner: string;
  after: string | null;
  limit: number;
}

interface TimedPage extends Page {
  at: number | null;
}

const CONVERSATION = `(select conversation.key from conversation join log on log.id = conversation.log
  where log.owner = @owner and conversation.id = @conversationId and deleted_at is null)`;

/** Prepares the lists of conversations and of what was said in them. */
export function createConversationLists(
  db: Database,
): Pick<Synchronous<Queries>, 'conversation' | 'listConversations' | 'listMessages' | 'purgeable'> {
  const one = db.prepare<[string, string], ConversationRead>(
    `${SELECT_CONVERSATION} where log.owner = ? and conversation.id = ? and deleted_at is null`,
  );
  const of = `conversation.log = (select id from log where owner = @owner) and deleted_at is null`;
  const last = `(@at, (select key from conversation where id = @after
    and log = (select id from log where owner = @owner)))`;
  const conversations = db.prepare<[TimedPage], ConversationRead>(
    `${SELECT_CONVERSATION} where ${of} and (@after is null or (last_activity_at, conversation.key) < ${last})
      order by last_activity_at desc, conversation.key desc limit @limit`,
  );
  const messages = {
    asc: prepareMessages(db, 'asc'),
    desc: prepareMessages(db, 'desc'),
  };
  const purgeable = db.prepare<[number], { owner: string; conversationId: string }>(
    `select log.owner, conversation.id as conversationId from conversation join log on log.id = conversation.log
      where deleted_at is not null and purged = 0 order by deleted_at limit ?`,
  );
  return {
    conversation(owner, id) {
      const row = one.get(owner, id);
      return row === undefined ? null : toConversation(row);
    },
    listConversations: (owner, { limit, after }) =>
      conversations.all({ owner, limit, after: after?.id ?? null, at: after?.at ?? null }).map(toConversation),
    listMessages: (owner, { conversationId, order, limit, after }) =>
      messages[order].all({ owner, conversationId, limit, after: after ?? null }).map(toMessage),
    purgeable: (limit) => purgeable.all(limit),
  };
}

function prepareMessages(db: Database, order: 'asc' | 'desc') {
  const after = `(select key from message where id = @after and conversation = ${CONVERSATION})`;
  const beyond = order === 'asc' ? `message.key > ifnull(${after}, 0)` : `message.key < ifnull(${after}, 9e15)`;
  return db.prepare<[Page & { conversationId: string }], MessageRead>(
    `${SELECT_MESSAGE} where message.conversation = ${CONVERSATION} and ${beyond}
      order by message.key ${order} limit @limit`,
  );
}
