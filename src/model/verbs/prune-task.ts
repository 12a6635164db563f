import type { ConversationRecord } from '../conversation.ts';
import type { TaskRecord } from '../task.ts';
import { accept, refuse, type Verb } from '../verb.ts';
import type { View } from '../view.ts';

export interface PruneTaskArgs {
  /** A task without a parent; its children go with it. */
  rootId: string;
  /** Only if it ended at least this long ago. */
  retentionMs: number;
}

/**
 * Deletes the events and the journals of a tree that ended long ago, and moves the marks that tell readers so.
 *
 * @see docs/protocol.md §5.3
 */
export const pruneTask: Verb<PruneTaskArgs, null> = {
  needs: ({ rootId }) => ({ tasks: [rootId] }),
  decide(view, { rootId, retentionMs }, now) {
    const task = view.task(rootId);
    if (task === null || task.parentId !== null || task.finishedAt === null || task.prunedSeq >= task.lastSeq) {
      return refuse('not_due', `${rootId} has nothing to prune.`);
    }
    if (now - task.finishedAt < retentionMs) {
      return refuse('not_due', `${rootId} ended less than ${retentionMs} ms ago.`);
    }
    const pruned = { ...task, prunedSeq: task.lastSeq };
    const conversations = [conversationOf(view, task)].flatMap((conversation) =>
      conversation === null ? [] : { ...conversation, prunedSeq: Math.max(conversation.prunedSeq, task.lastSeq) },
    );
    return accept(null, { changes: { tasks: [pruned], conversations, prune: [{ rootId, upTo: task.lastSeq }] } });
  },
};

function conversationOf(view: View, { conversationId }: TaskRecord): ConversationRecord | null {
  return conversationId === null ? null : view.conversationRow(conversationId);
}
