import { type EndedTree, endTree } from '../ending.ts';
import { conversationEvent } from '../event.ts';
import { accept, type ConversationResult, refuse, type Verb } from '../verb.ts';

export interface DeleteConversationArgs {
  conversationId: string;
}

/**
 * Deletes a conversation with all that belongs to it: its unfinished tasks are cancelled, and from then on nobody is shown
 * anything of it but that it was deleted. Its rows go afterwards, a few at a time.
 *
 * @see docs/protocol.md §7
 */
export const deleteConversation: Verb<DeleteConversationArgs, ConversationResult> = {
  needs: ({ conversationId }) => ({ gatherings: [conversationId] }),
  decide(view, { conversationId }, now) {
    const known = view.conversation(conversationId);
    if (known === null) return refuse('not_found', 'There is no such conversation.');
    const ending = { status: 'cancelled', reason: 'conversation_deleted', interrupted: true } as const;
    const ended = view.gathering(conversationId).map((task): EndedTree => endTree(view, task, ending, now));
    const conversation = { ...known, title: null, metadata: {}, deletedAt: now };
    return accept(
      { conversation },
      {
        changes: {
          conversations: [conversation],
          tasks: ended.flatMap(({ tasks }) => tasks),
          questions: ended.flatMap(({ questions }) => questions),
          rows: ended.flatMap(({ rows }) => rows),
          messages: ended.flatMap(({ messages }) => messages),
        },
        events: [
          ...ended.flatMap(({ events }) => events),
          conversationEvent(conversationId, 'conversation.deleted', { conversationId }),
        ],
      },
    );
  },
};
