import type { KeyUse, VerbCall } from '../model/batch.ts';
import { type Conversation, type ConversationRecord, toConversation } from '../model/conversation.ts';
import { HoldfastError } from '../model/error.ts';
import type { Message } from '../model/event.ts';
import type { JsonObject } from '../model/json.ts';
import { type Question, toQuestion } from '../model/question.ts';
import { type Task, toTask } from '../model/task.ts';
import type { WhenBusy } from '../model/verbs/post-message.ts';
import type { Committed, ConversationFilter, MessageFilter, Store } from '../store/store.ts';
import type { Admission } from './admission.ts';
import type { InProgress } from './in-progress.ts';
import type { Log } from './log.ts';
import { newId } from './new-ids.ts';
import { cursorAt, headCursor, plainCursor, retellingFrom } from './position.ts';
import { unwrap } from './refusal.ts';
import type { Read, TasksDependencies, Written } from './tasks.ts';

/** What clients do with conversations. @see docs/protocol.md §7 */
export interface Conversations {
  create(owner: string, given: NewConversation, idempotency?: KeyUse): Promise<Written<{ conversation: Conversation }>>;
  /** With all that a page needs to show it and to follow it on. @throws HoldfastError `not_found` */
  get(owner: string, id: string): Promise<Read<{ conversation: OpenConversation }>>;
  /** The stored conversation, for those who read its events. @throws HoldfastError `not_found` */
  record(owner: string, id: string): Promise<ConversationRecord>;
  /** The newest activity first. */
  list(owner: string, filter: ConversationFilter): Promise<Read<{ conversations: Conversation[] }>>;
  /** @throws HoldfastError `not_found`, and those of storage */
  update(
    owner: string,
    id: string,
    changes: Partial<NewConversation>,
  ): Promise<Written<{ conversation: Conversation }>>;
  /** Cancels what is unfinished in it. From then on nothing of it is shown. @throws HoldfastError `not_found`, and those of storage */
  delete(owner: string, id: string): Promise<void>;
  /** @throws HoldfastError `not_found` */
  messages(owner: string, filter: MessageFilter): Promise<Read<{ messages: Message[] }>>;
  /**
   * Writes in it, once the agent has checked the message.
   *
   * @throws HoldfastError `not_found`, `conversation_busy` with the first unfinished turn, `unknown_agent`,
   *   `invalid_input`, `rate_limited`, `overloaded`, `draining`, and those of idempotency and storage
   */
  post(
    owner: string,
    id: string,
    message: NewMessage,
    idempotency?: KeyUse,
  ): Promise<Written<{ message: Message; task: Task }>>;
}

export interface NewConversation {
  title: string | null;
  metadata: JsonObject;
}

export interface OpenConversation extends Conversation {
  unfinishedTasks: Task[];
  pendingQuestions: Question[];
  /** Streamed from here, all of what is unfinished is told. */
  resumeAfter: string;
}

export interface NewMessage {
  content: string;
  /** Null: that of the last turn, else `assistant`. */
  agent: string | null;
  whenBusy: WhenBusy;
  metadata: JsonObject;
}

type ConversationCall = VerbCall<'createConversation' | 'updateConversation'>;

export interface ConversationsDependencies {
  store: Store;
  log: Log;
  admission: Admission;
  inProgress: InProgress;
  maxUnfinished?: TasksDependencies['maxUnfinished'];
  /** Called when there are rows that can go. */
  onDeleted(): void;
}

const DEFAULT_AGENT = 'assistant';
const UNFINISHED = ['queued', 'running', 'waiting'] as const;
/** More unfinished work than this a page finds in the lists. */
const MAX_SHOWN = 200;

export function createConversations(dependencies: ConversationsDependencies): Conversations {
  const { store, log, admission, inProgress, maxUnfinished, onDeleted } = dependencies;

  async function record(owner: string, id: string): Promise<ConversationRecord> {
    return existing(await store.conversation(owner, id));
  }

  /** The cursor is that of the commit, not of what has come since. */
  async function written(
    owner: string,
    { outcomes, firstSeq, events }: Committed<readonly [ConversationCall]>,
  ): Promise<Written<{ conversation: Conversation }>> {
    const state = await store.log(owner);
    const { result, replayed } = unwrap(outcomes[0], state);
    const cursor = plainCursor(state, firstSeq - 1 + events.length);
    return { conversation: toConversation(result.conversation), replayed, cursor };
  }

  return {
    record,

    create(owner, given, idempotency) {
      return inProgress.run(owner, idempotency, async () => {
        const args = { ...given, conversationId: newId('conv') };
        const call = { verb: 'createConversation', args, ...(idempotency && { idempotency }) } as const;
        return written(owner, await log.commit(owner, [call]));
      });
    },

    async get(owner, id) {
      const open = { conversationId: id, limit: MAX_SHOWN };
      const [conversation, state, tasks, questions, from] = await store.snapshot((reads) =>
        Promise.all([
          reads.conversation(owner, id),
          reads.log(owner),
          reads.listTasks(owner, { ...open, status: UNFINISHED, order: 'asc' }),
          reads.listQuestions(owner, { ...open, status: 'pending' }),
          reads.unfinishedFrom(owner, id),
        ]),
      );
      return {
        conversation: {
          ...toConversation(existing(conversation)),
          unfinishedTasks: tasks.map((task) => toTask(task, (seq) => plainCursor(state, seq))),
          pendingQuestions: questions.map(toQuestion),
          resumeAfter: cursorAt(state, retellingFrom(from, state)),
        },
        cursor: headCursor(state),
      };
    },

    async list(owner, filter) {
      const [conversations, state] = await store.snapshot((reads) =>
        Promise.all([reads.listConversations(owner, filter), reads.log(owner)]),
      );
      return { conversations: conversations.map(toConversation), cursor: headCursor(state) };
    },

    async update(owner, conversationId, changes) {
      const call = { verb: 'updateConversation', args: { conversationId, ...changes } } as const;
      return written(owner, await log.commit(owner, [call]));
    },

    async delete(owner, conversationId) {
      const { outcomes } = await log.commit(owner, [{ verb: 'deleteConversation', args: { conversationId } }]);
      unwrap(outcomes[0], await store.log(owner));
      onDeleted();
    },

    async messages(owner, filter) {
      const [conversation, messages, state] = await store.snapshot((reads) =>
        Promise.all([
          reads.conversation(owner, filter.conversationId),
          reads.listMessages(owner, filter),
          reads.log(owner),
        ]),
      );
      existing(conversation);
      return { messages, cursor: headCursor(state) };
    },

    async post(owner, conversationId, { agent: asked, content, ...rest }, idempotency) {
      admission.refuseWhenStopping();
      return inProgress.run(owner, idempotency, async () => {
        const agent = asked ?? (await record(owner, conversationId)).agent ?? DEFAULT_AGENT;
        // A request that was done before is answered as it was then, whatever has become of its agent.
        if (idempotency === undefined || !(await store.hasKey(owner, idempotency.key))) {
          await admission.checkInput(agent, { message: content, conversationId });
        }
        const ids = { conversationId, messageId: newId('msg'), taskId: newId('task') };
        const args = { ...ids, ...rest, agent, content, maxUnfinished };
        const call = { verb: 'postMessage', args, ...(idempotency && { idempotency }) } as const;
        const { outcomes } = await log.commit(owner, [call]);
        const state = await store.log(owner);
        const { result, replayed } = unwrap(outcomes[0], state);
        const task = toTask(result.task, (seq) => plainCursor(state, seq));
        return { message: result.message, task, cursor: task.cursor.last, replayed };
      });
    },
  };
}

function existing(conversation: ConversationRecord | null): ConversationRecord {
  if (conversation === null) throw new HoldfastError('not_found', 'There is no such conversation.');
  return conversation;
}
