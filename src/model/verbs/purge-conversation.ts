import { accept, refuse, type Verb } from '../verb.ts';

export interface PurgeConversationArgs {
  conversationId: string;
}

/** Deletes some of the rows that a deleted conversation has left. */
export const purgeConversation: Verb<PurgeConversationArgs, null> = {
  needs: ({ conversationId }) => ({ conversations: [conversationId] }),
  decide(view, { conversationId }) {
    const conversation = view.conversationRow(conversationId);
    if (conversation === null || conversation.deletedAt === null) {
      return refuse('not_due', `${conversationId} was not deleted.`);
    }
    return accept(null, { changes: { purge: [conversationId] } });
  },
};
