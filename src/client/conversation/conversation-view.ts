import type { Conversation } from '../../model/conversation.ts';
import type { Message } from '../../model/event.ts';
import type { Json } from '../../model/json.ts';
import type { Question } from '../../model/question.ts';
import type { Progress, TaskStatus } from '../../model/task.ts';
import type { TaskError } from '../../model/task-error.ts';

/** What somebody wrote or an agent said, in full. */
export interface MessageEntry {
  kind: 'message';
  key: string;
  message: Message;
}

/** What an agent is saying right now. */
export interface TextEntry {
  kind: 'text';
  key: string;
  taskId: string;
  messageId: string;
  text: string;
}

/** A step or a tool's call. Only of turns whose events were told, those that were unfinished when the page was opened. */
export interface ActivityEntry {
  kind: 'activity';
  key: string;
  taskId: string;
  /** The step's key, or the tool's name. */
  name: string;
  /** Null of a step that is no tool's call. */
  tool: { toolCallId: string; input: Json; output: Json; truncated: boolean } | null;
  status: 'running' | 'completed' | 'failed';
  attempt: number;
  startedAt: string;
  /** How long it took; null while it runs. */
  ms: number | null;
  error: TaskError | null;
}

/** A question in the place where it was asked, pending or resolved. */
export interface QuestionEntry {
  kind: 'question';
  key: string;
  question: Question;
}

/** What became of a turn, other than completing. */
export interface NoticeEntry {
  kind: 'notice';
  key: string;
  taskId: string;
  at: string;
  notice:
    | { type: 'failed'; error: TaskError }
    | { type: 'cancelled'; reason: string | null }
    | { type: 'recovered' }
    | { type: 'retrying'; error: TaskError; retryAt: string };
}

/** A message on its way to the server. It becomes a {@link MessageEntry} once the server has it. */
export interface OutgoingEntry {
  kind: 'outgoing';
  key: string;
  content: string;
  /** `refused`: the server will not have it, and `error` says why; the text is still here. */
  status: 'sending' | 'refused';
  error: { code: string; message: string } | null;
}

export type Entry = MessageEntry | TextEntry | ActivityEntry | QuestionEntry | NoticeEntry | OutgoingEntry;

/** A turn, or another task of the conversation, that is unfinished, or was when the page was opened. */
export interface TurnView {
  taskId: string;
  rootId: string;
  agent: string;
  status: TaskStatus;
  attempt: number;
  progress: Progress | null;
  /** Why it is `waiting`, and until when at most. */
  waitingFor: ('people' | 'timer' | 'children')[];
  waitingUntil: string | null;
}

/** What somebody has begun to answer. Kept in the browser's storage, so that it survives a reload. */
export interface Draft {
  /** By item id; whatever the form holds. */
  values: { [itemId: string]: Json };
  /**
   * `editing`; `submitting`: pressed, and on its way to the server however long that takes, also after a reload;
   * `refused`: the server found it wrong, and `error` says where.
   */
  status: 'editing' | 'submitting' | 'refused';
  error: { code: string; message: string; errors: readonly { path: string; message: string }[] } | null;
}

/** All that a page shows of a conversation. Objects that did not change are the same objects as before. */
export interface ConversationView {
  /** `failed`: what trying again would not mend; `error` says what. */
  status: 'loading' | 'ready' | 'deleted' | 'failed';
  error: { code: string; message: string } | null;
  conversation: Conversation | null;
  /** Oldest first. */
  entries: readonly Entry[];
  /** Whether `loadOlder` would bring more messages. */
  hasOlder: boolean;
  isLoadingOlder: boolean;
  /** Unfinished tasks, oldest first. */
  unfinished: readonly TurnView[];
  /** Pending questions, oldest first. */
  questions: readonly Question[];
  /** By question id. */
  drafts: { readonly [questionId: string]: Draft };
  /** The cursor of what is shown here. */
  cursor: string | null;
}
