import { toConversation } from '../conversation.ts';
import { conversationEvent } from '../event.ts';
import type { JsonObject } from '../json.ts';
import { accept, type ConversationResult, refuse, repeat, type Verb } from '../verb.ts';

export interface UpdateConversationArgs {
  conversationId: string;
  /** What is absent stays as it is. */
  title?: string | null;
  metadata?: JsonObject;
}

/** Gives a conversation another title or other metadata. @see docs/protocol.md §7 */
export const updateConversation: Verb<UpdateConversationArgs, ConversationResult> = {
  needs: ({ conversationId }) => ({ conversations: [conversationId] }),
  decide(view, { conversationId, ...changes }, now) {
    const known = view.conversation(conversationId);
    if (known === null) return refuse('not_found', 'There is no such conversation.');
    if (Object.keys(changes).length === 0) return repeat({ conversation: known });
    const conversation = { ...known, ...changes, lastActivityAt: now };
    const updated = conversationEvent(conversationId, 'conversation.updated', {
      conversation: toConversation(conversation),
    });
    return accept({ conversation }, { changes: { conversations: [conversation] }, events: [updated] });
  },
};
