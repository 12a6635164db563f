import { z } from 'zod';
import type { JsonObject } from './json.ts';

/** The wire form of a conversation. @see docs/protocol.md §7 */
export const conversationSchema = z.object({
  id: z.string(),
  title: z.string().nullable(),
  metadata: z.record(z.string(), z.json()),
  createdAt: z.iso.datetime(),
  lastActivityAt: z.iso.datetime(),
});

export type Conversation = z.infer<typeof conversationSchema>;

/** A conversation as it is stored. Times are epoch ms. */
export interface ConversationRecord {
  id: string;
  title: string | null;
  metadata: JsonObject;
  /** That of its last turn; null while it has none. */
  agent: string | null;
  createdAt: number;
  /** When it was made or changed, or somebody wrote in it. */
  lastActivityAt: number;
  /** The highest seq pruned out of its stream; 0 when nothing was. */
  prunedSeq: number;
  /** How many of its tasks have not ended, their children not counted. */
  unfinishedRoots: number;
  /** When it was deleted; its rows go later, a few at a time. */
  deletedAt: number | null;
}

export function toConversation(record: ConversationRecord): Conversation {
  const { id, title, metadata, createdAt, lastActivityAt } = record;
  return {
    id,
    title,
    metadata,
    createdAt: new Date(createdAt).toISOString(),
    lastActivityAt: new Date(lastActivityAt).toISOString(),
  };
}
