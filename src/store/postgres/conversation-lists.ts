import type { Queries } from '../store.ts';
import type { Ask } from './ask.ts';
import { type ConversationRead, SELECT_CONVERSATION, toConversation } from './conversation-row.ts';
import { fromText, toText } from './escape.ts';
import { type MessageRead, SELECT_MESSAGE, toMessage } from './message-row.ts';
import { statement } from './statement.ts';

const LOG = '(select id from holdfast.log where owner = $1)';
const NEWEST = 'order by last_activity_at desc, conversation.key desc limit $2';
const CONVERSATION = `(select key from holdfast.conversation where log = ${LOG} and id = $2 and deleted_at is null)`;
/** Above every key. */
const NO_KEY = '9000000000000000';

const ONE = statement<ConversationRead>(
  `${SELECT_CONVERSATION} where conversation.log = ${LOG} and conversation.id = $2 and deleted_at is null`,
);
const FIRST = statement<ConversationRead>(
  `${SELECT_CONVERSATION} where conversation.log = ${LOG} and deleted_at is null ${NEWEST}`,
);
const NEXT = statement<ConversationRead>(
  `${SELECT_CONVERSATION} where conversation.log = ${LOG} and deleted_at is null and (last_activity_at, conversation.key)
    < ($3, (select key from holdfast.conversation where log = ${LOG} and id = $4)) ${NEWEST}`,
);
const MESSAGES = { asc: messagesIn('asc'), desc: messagesIn('desc') };
const PURGEABLE = statement<{ owner: string; conversationId: string }>(
  `select log.owner, conversation.id as "conversationId" from holdfast.conversation
    join holdfast.log on log.id = conversation.log
    where deleted_at is not null and not purged order by deleted_at limit $1`,
);

/** The lists of conversations and of what was said in them. */
export function createConversationLists(
  ask: Ask,
): Pick<Queries, 'conversation' | 'listConversations' | 'listMessages' | 'purgeable'> {
  return {
    async conversation(owner, id) {
      const [row] = await ask(ONE, toText(owner), toText(id));
      return row === undefined ? null : toConversation(row);
    },
    async listConversations(owner, { limit, after }) {
      const page = [toText(owner), limit] as const;
      const rows = after === undefined ? ask(FIRST, ...page) : ask(NEXT, ...page, after.at, toText(after.id));
      return (await rows).map(toConversation);
    },
    async listMessages(owner, { conversationId, order, limit, after = null }) {
      const rows = await ask(MESSAGES[order], toText(owner), toText(conversationId), toText(after), limit);
      return rows.map(toMessage);
    },
    async purgeable(limit) {
      return (await ask(PURGEABLE, limit)).map((row) => ({ ...row, owner: fromText(row.owner) }));
    },
  };
}

function messagesIn(order: 'asc' | 'desc') {
  const after = `(select key from holdfast.message where id = $3 and log = ${LOG} and conversation = ${CONVERSATION})`;
  const beyond =
    order === 'asc' ? `message.key > coalesce(${after}, 0)` : `message.key < coalesce(${after}, ${NO_KEY})`;
  return statement<MessageRead>(`${SELECT_MESSAGE} where message.conversation = ${CONVERSATION} and ${beyond}
    order by message.key ${order} limit $4`);
}
