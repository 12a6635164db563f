import type { ConversationRecord } from './conversation.ts';
import type { Message } from './event.ts';
import type { JournalRow, RowKey } from './journal.ts';
import type { QuestionRecord } from './question.ts';
import type { TaskRecord } from './task.ts';

/** Whole records that replace those in the view. */
export interface Changes {
  tasks?: readonly TaskRecord[];
  questions?: readonly QuestionRecord[];
  conversations?: readonly ConversationRecord[];
  /** New messages, and those whose task is another now. */
  messages?: readonly Message[];
  rows?: readonly JournalRow[];
  /** Rows of journals that are deleted. */
  droppedRows?: readonly RowKey[];
  /** Roots whose events, of their whole trees, are deleted up to this seq, and the journals of those trees. */
  prune?: readonly { rootId: string; upTo: number }[];
  /** Deleted conversations whose rows are deleted, a few at a time. */
  purge?: readonly string[];
}
