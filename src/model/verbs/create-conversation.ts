import { type ConversationRecord, toConversation } from '../conversation.ts';
import { conversationEvent } from '../event.ts';
import type { JsonObject } from '../json.ts';
import { accept, type ConversationResult, refuse, type Verb } from '../verb.ts';

export interface CreateConversationArgs {
  conversationId: string;
  title: string | null;
  metadata: JsonObject;
}

/** Opens an empty conversation. @see docs/protocol.md §7 */
export const createConversation: Verb<CreateConversationArgs, ConversationResult> = {
  needs: ({ conversationId }) => ({ conversations: [conversationId] }),
  decide(view, { conversationId: id, title, metadata }, now) {
    if (view.conversationRow(id) !== null) return refuse('internal', 'The id of a new conversation is taken.');
    const times = { createdAt: now, lastActivityAt: now, prunedSeq: 0, unfinishedRoots: 0, deletedAt: null };
    const conversation: ConversationRecord = { id, title, metadata, agent: null, ...times };
    const created = conversationEvent(id, 'conversation.created', { conversation: toConversation(conversation) });
    return accept({ conversation }, { changes: { conversations: [conversation] }, events: [created] });
  },
};
