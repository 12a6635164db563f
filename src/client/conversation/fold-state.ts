import type { Conversation } from '../../model/conversation.ts';
import type { Question } from '../../model/question.ts';
import type { Entry, TurnView } from './conversation-view.ts';

/** What reads and events have come to so far. Never changed: every change makes another one. */
export interface FoldState {
  conversation: Conversation | null;
  isDeleted: boolean;
  entries: readonly Entry[];
  unfinished: readonly TurnView[];
  questions: readonly Question[];
  /** What is told after it is still missing here; null before anything was read. */
  cursor: string | null;
  /** Keys of the entries that were read, and that no event has told of yet: their place is a guess by their time. */
  untold: ReadonlySet<string>;
  /** By message id, the keys of entries that were there before their message had an id. */
  aliases: ReadonlyMap<string, string>;
}

export const EMPTY_FOLD: FoldState = {
  conversation: null,
  isDeleted: false,
  entries: [],
  unfinished: [],
  questions: [],
  cursor: null,
  untold: new Set(),
  aliases: new Map(),
};

/** The key under which a message is shown, from its first word on. */
export function keyOf({ aliases }: FoldState, messageId: string): string {
  return aliases.get(messageId) ?? messageId;
}
