import type { Conversation } from '../model/conversation.ts';
import type { Message } from '../model/event.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { Answers, Question, QuestionStatus } from '../model/question.ts';
import type { Task, TaskStatus } from '../model/task.ts';
import type { Connection } from './connection.ts';
import type { StreamItem } from './event.ts';
import type { ExternalStore } from './external-store.ts';

/** What every request takes. */
export interface RequestOptions {
  /** Ends it with `aborted`. What the server has taken stays taken. */
  signal?: AbortSignal;
}

/** What every `POST` takes. */
export interface SendOptions extends RequestOptions {
  /** Makes the request safe to send again; one is made up when it is not given. */
  idempotencyKey?: string;
}

/** A page of a list; `nextPage` goes into the next request, null after the last one. */
export interface Page<Item> {
  items: Item[];
  nextPage: string | null;
  /** A stream `after` it misses no later change. Null where another origin's headers are hidden. */
  cursor: string | null;
}

export interface PageQuery {
  /** 1 to 200, default 50. */
  limit?: number;
  page?: string;
  order?: 'asc' | 'desc';
}

export interface EventsQuery {
  /** The events of one task and its children. Ends with the task. */
  taskId?: string;
  /** The events of one conversation. Ends when it is deleted. */
  conversationId?: string;
  /** Up to 20, each exact or `prefix.*`. */
  types?: string[];
  /** A cursor, `0` for all there is, or `latest`; without one it begins where unfinished work began. */
  after?: string;
  /** Ends the iteration without an error. */
  signal?: AbortSignal;
}

export interface Agent {
  name: string;
  description: string | null;
  version: string | null;
  /** JSON Schema; null where the agent's schema cannot give one. */
  inputSchema: JsonObject | null;
}

export interface NewTask {
  agent: string;
  input?: Json;
  conversationId?: string;
  metadata?: JsonObject;
  timeoutMs?: number;
  maxAttempts?: number;
  runAt?: string;
  priority?: number;
  concurrencyKey?: string;
}

export interface NewMessage {
  content: string;
  agent?: string;
  /** What becomes of it while the agent is still at work on another; default `interrupt`. */
  whenBusy?: 'interrupt' | 'enqueue' | 'reject' | 'steer';
  metadata?: JsonObject;
}

/** A conversation with what is unfinished in it. */
export interface OpenConversation extends Conversation {
  unfinishedTasks: Task[];
  pendingQuestions: Question[];
  /** A stream `after` it tells all that is unfinished from its beginning. */
  resumeAfter: string;
}

export interface Tasks {
  create(task: NewTask, options?: SendOptions): Promise<Task>;
  /** `wait`: up to how many seconds, 60 at most, the answer is held until the task has ended or waits for something. */
  get(id: string, options?: RequestOptions & { wait?: number }): Promise<Task>;
  list(
    query?: PageQuery & { status?: (TaskStatus | 'unfinished')[]; conversationId?: string; agent?: string },
    options?: RequestOptions,
  ): Promise<Page<Task>>;
  cancel(id: string, body?: { reason?: string }, options?: SendOptions): Promise<Task>;
  /** A new task that goes on where the failed or cancelled one came to. */
  retry(id: string, options?: SendOptions): Promise<Task>;
}

export interface Questions {
  get(id: string, options?: RequestOptions): Promise<Question>;
  list(
    query?: Omit<PageQuery, 'order'> & { status?: QuestionStatus; taskId?: string; conversationId?: string },
    options?: RequestOptions,
  ): Promise<Page<Question>>;
  /** The first answer wins. @throws HoldfastError `question_resolved` with the `question` as somebody else resolved it */
  answer(id: string, answers: Answers, options?: SendOptions): Promise<Question>;
  decline(id: string, body?: { reason?: string }, options?: SendOptions): Promise<Question>;
}

export interface Conversations {
  create(conversation?: { title?: string | null; metadata?: JsonObject }, options?: SendOptions): Promise<Conversation>;
  get(id: string, options?: RequestOptions): Promise<OpenConversation>;
  list(query?: Omit<PageQuery, 'order'>, options?: RequestOptions): Promise<Page<Conversation>>;
  update(
    id: string,
    change: { title?: string | null; metadata?: JsonObject },
    options?: RequestOptions,
  ): Promise<Conversation>;
  delete(id: string, options?: RequestOptions): Promise<void>;
  messages(id: string, query?: PageQuery, options?: RequestOptions): Promise<Page<Message>>;
  send(id: string, message: NewMessage, options?: SendOptions): Promise<{ message: Message; task: Task }>;
}

/**
 * Speaks to a Holdfast server. Reads that get no answer are tried three times in about a second. What changes something
 * carries an idempotency key and is tried again until there is a definite answer, however long the tunnel; `signal` ends it.
 */
export interface Client {
  readonly agents: { list(options?: RequestOptions): Promise<{ items: Agent[] }> };
  readonly tasks: Tasks;
  readonly questions: Questions;
  readonly conversations: Conversations;
  /** How the events come. */
  readonly connection: ExternalStore<Connection>;
  /**
   * Every event from a place on, each once and in order, through lost connections, restarts of the server and closed
   * tabs. The iteration ends with its task or conversation, with `signal`, or with `close()`.
   *
   * A cursor belongs to the state that was built from the events before it: keep both together, or neither.
   *
   * @throws HoldfastError `invalid_request`, `not_found`, `unauthorized`, `forbidden`: what trying again would not mend
   * @see docs/protocol.md §5
   */
  events(query?: EventsQuery): AsyncIterableIterator<StreamItem, void, void>;
  /** Tries at once whatever waits for its next attempt. For places without a page's events: an app that comes to the front. */
  wake(): void;
  /** Ends every iteration, and every request with `aborted`. */
  close(): void;
}
