import type { Message } from '../../model/event.ts';
import { backoffMs } from '../backoff.ts';
import type { Client, OpenConversation, Page } from '../client.ts';
import type { Waker } from '../environment.ts';
import { HoldfastError } from '../error.ts';
import type { CaughtUp, LogEvent } from '../event.ts';
import { isDefinite } from '../events/follow-log.ts';
import { pause } from '../pause.ts';

export interface ConversationFollower {
  /** All is about to be read, at first or again. */
  onBegin(): void;
  onRead(conversation: OpenConversation, lastPage: Page<Message>): void;
  onItem(item: LogEvent | CaughtUp): void;
  /** What trying again would not mend: nothing comes after it. */
  onFailed(error: HoldfastError): void;
}

/**
 * Reads a conversation and follows it until `signal` aborts, the conversation is deleted, or the client is closed.
 * Whatever the stream cannot go on with is read again.
 *
 * @param pageSize how many messages are read
 * @see docs/protocol.md §7, recovery of a page
 */
export async function followConversation(
  client: Client,
  id: string,
  { pageSize, waker, signal }: { pageSize: number; waker: Waker; signal: AbortSignal },
  follower: ConversationFollower,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    try {
      follower.onBegin();
      const conversation = await client.conversations.get(id, { signal });
      const page = await client.conversations.messages(id, { order: 'desc', limit: pageSize }, { signal });
      if (signal.aborted) return;
      failures = 0;
      follower.onRead(conversation, page);
      if (!(await isReset(conversation.resumeAfter))) return;
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      if (signal.aborted || error.code === 'aborted') return;
      if (isDefinite(error)) {
        follower.onFailed(error);
        return;
      }
      failures += 1;
      await pause(backoffMs(failures), waker, signal);
    }
  }

  async function isReset(after: string): Promise<boolean> {
    for await (const item of client.events({ conversationId: id, after, signal })) {
      if (item.type === 'reset') return true;
      if (signal.aborted) return false;
      follower.onItem(item);
    }
    return false;
  }
}
