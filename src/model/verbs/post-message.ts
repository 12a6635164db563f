import type { ConversationRecord } from '../conversation.ts';
import { type EndedTree, endTree } from '../ending.ts';
import type { Message } from '../event.ts';
import type { JsonObject } from '../json.ts';
import { refuseWhenFull, type UnfinishedLimit } from '../limits.ts';
import { messageCompleted } from '../message.ts';
import type { TaskRecord } from '../task.ts';
import { beginTurn, toInbox, untaken, userMessage, type Written } from '../turn.ts';
import { accept, type Decision, refuse, type TaskResult, type Verb } from '../verb.ts';
import type { View } from '../view.ts';

/** What becomes of a message while a turn is unfinished. @see docs/protocol.md §7 */
export type WhenBusy = 'interrupt' | 'enqueue' | 'reject' | 'steer';

export interface PostMessageArgs extends UnfinishedLimit {
  conversationId: string;
  messageId: string;
  /** Of the turn that the message begins, now or, with `steer`, it may be later. */
  taskId: string;
  agent: string;
  content: string;
  metadata: JsonObject;
  whenBusy: WhenBusy;
}

/** Messages that a turn was sent and has not taken, and the code units of their contents. */
const MAX_UNTAKEN = 100;
const MAX_UNTAKEN_CHARS = 1024 * 1024;

export interface PostMessageResult extends TaskResult {
  message: Message;
}

/** Writes in a conversation: begins a turn, or sends the message to the one that is unfinished. @see docs/protocol.md §7 */
export const postMessage: Verb<PostMessageArgs, PostMessageResult> = {
  needs: ({ conversationId, taskId, whenBusy }) =>
    // Only what interrupts has to do with more than the first of the unfinished turns.
    whenBusy === 'interrupt'
      ? { gatherings: [conversationId], tasks: [taskId] }
      : { firstTurns: [conversationId], tasks: [taskId] },
  decide(view, args, now) {
    const { conversationId, messageId, taskId, agent, content, metadata, whenBusy } = args;
    const known = view.conversation(conversationId);
    if (known === null) return refuse('not_found', 'There is no such conversation.');
    if (view.task(taskId) !== null) return refuse('internal', 'The id of a new task is taken.');
    const unfinished = view.gathering(conversationId).filter(({ isTurn }) => isTurn);
    const [first] = unfinished;
    if (first !== undefined && whenBusy === 'reject') {
      return refuse('conversation_busy', 'A turn of the conversation is unfinished.', { task: first });
    }
    const written: Written = { messageId, taskId, content, metadata, createdAt: new Date(now).toISOString() };
    const conversation = { ...known, lastActivityAt: now };
    if (first !== undefined && whenBusy === 'steer') return steer(first, written, conversation);
    const full = refuseWhenFull(view.log, known, args, whenBusy === 'interrupt' ? unfinished.length : 0);
    if (full !== null) return full;
    const cut = whenBusy === 'interrupt' ? interrupt(view, unfinished, now) : [];
    const { task, message, events } = beginTurn(view.log.owner, agent, conversationId, written, now);
    return accept(
      { message, task },
      {
        changes: {
          conversations: [{ ...conversation, agent }],
          tasks: [...cut.flatMap(({ tasks }) => tasks), task],
          questions: cut.flatMap(({ questions }) => questions),
          rows: cut.flatMap(({ rows }) => rows),
          messages: [...cut.flatMap(({ messages }) => messages), message],
        },
        events: [...cut.flatMap((ended) => ended.events), ...events],
      },
    );
  },
};

function steer(turn: TaskRecord, written: Written, conversation: ConversationRecord): Decision<PostMessageResult> {
  if (isFull([...untaken(turn), written])) {
    return refuse('conversation_busy', 'The turn has too many messages that it has not taken.', { task: turn });
  }
  const message = userMessage(conversation.id, turn.id, written);
  const sent = { ...turn, inbox: [...turn.inbox, toInbox(written)] };
  return accept(
    { message, task: sent },
    {
      changes: { conversations: [conversation], tasks: [sent], messages: [message] },
      events: [messageCompleted(message, null)],
    },
  );
}

/** What a turn has not taken is read and written with all that happens to it. */
function isFull(messages: readonly Written[]): boolean {
  const chars = messages.reduce((sum, { content }) => sum + content.length, 0);
  return messages.length > MAX_UNTAKEN || chars > MAX_UNTAKEN_CHARS;
}

function interrupt(view: View, turns: readonly TaskRecord[], now: number): EndedTree[] {
  const ending = { status: 'cancelled', reason: 'interrupted', interrupted: true } as const;
  return turns.map((turn) => endTree(view, turn, ending, now));
}
