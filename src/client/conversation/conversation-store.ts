import type { Message } from '../../model/event.ts';
import type { Json } from '../../model/json.ts';
import type { Answers, Question } from '../../model/question.ts';
import type { Client, NewMessage } from '../client.ts';
import { HoldfastError } from '../error.ts';
import { isServerEvent } from '../event.ts';
import { createStore, type ExternalStore } from '../external-store.ts';
import { wakerOf } from '../waker-of.ts';
import { addMessages, foldOf } from './conversation-fold.ts';
import type { ConversationView } from './conversation-view.ts';
import { openStoredDrafts } from './draft-storage.ts';
import { createDrafts } from './drafts.ts';
import { entryOf } from './entry-place.ts';
import { withAlias } from './fold-messages.ts';
import { questionResolved } from './fold-questions.ts';
import { type FoldState, keyOf } from './fold-state.ts';
import { createFolding } from './folding.ts';
import { type ConversationFollower, followConversation } from './follow-conversation.ts';
import { createOutgoing } from './outgoing.ts';
import { createPacing } from './pacing.ts';

/** What keeps drafts over a reload: `localStorage`, or anything that does the same. */
export interface DraftStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export interface ConversationStoreOptions {
  /** Default `localStorage` where there is one, else memory; null keeps drafts in memory. */
  storage?: DraftStorage | null;
  /** How many messages are read at first, and by each `loadOlder`: 1 to 200, default 50. */
  pageSize?: number;
}

/**
 * A conversation as a page shows it: read over REST, followed by events, put right by itself after everything. It begins
 * with the first subscription and rests with the last one's end; what it showed stays until it begins anew.
 */
export interface ConversationStore extends ExternalStore<ConversationView> {
  /** Sends a message, as an entry that is shown at once. Never rejects: what the server refuses is in that entry. */
  send(message: NewMessage): Promise<void>;
  /** Takes a refused message out. */
  discard(key: string): void;
  /** Keeps what a form holds. */
  setDraft(questionId: string, values: { [itemId: string]: Json }): void;
  /** Answers, and keeps at it until the server has decided, also over a reload. Never rejects: see the draft and the question. */
  answer(questionId: string, answers: Answers): Promise<void>;
  decline(questionId: string, reason?: string): Promise<void>;
  /** Cancels all unfinished tasks that have no parent. */
  cancel(): Promise<void>;
  /** Puts the page of messages before the oldest in front. */
  loadOlder(): Promise<void>;
}

const EMPTY_VIEW: ConversationView = {
  ...{ status: 'loading', error: null, conversation: null, cursor: null },
  ...{ entries: [], unfinished: [], questions: [], drafts: {} },
  ...{ hasOlder: false, isLoadingOlder: false },
};
/** A read has no more pending questions than these, the oldest. */
const MAX_PENDING_READ = 200;

export function createConversationStore(
  client: Client,
  conversationId: string,
  { storage, pageSize = 50 }: ConversationStoreOptions = {},
): ConversationStore {
  const { conversations, questions, tasks } = client;
  const store = createStore(EMPTY_VIEW);
  const pacing = createPacing(publish);
  const folding = createFolding();
  const stored = openStoredDrafts(storage, conversationId);
  const drafts = createDrafts(questions, stored, (question) =>
    change((state) => (question === null ? state : questionResolved(state, question))),
  );
  const outgoing = createOutgoing(
    (message, idempotencyKey) => conversations.send(conversationId, message, { idempotencyKey }),
    (message, key) => {
      accepted.push(message);
      change((state) => addMessages(withAlias(state, message.id, key), [message]));
    },
    pacing.now,
  );
  let { status, error } = EMPTY_VIEW;
  let older: { page: string | null; isLoading: boolean } = { page: null, isLoading: false };
  /** Accepted since the last read began, which may not have seen them. */
  let accepted: Message[] = [];
  let draftIds: string[] = [];
  let subscribers = 0;
  let running = new AbortController();

  function publish(): void {
    const { isDeleted, conversation, entries, unfinished, questions, cursor } = folding.shown();
    const unsent = outgoing.entries();
    store.set({
      status: isDeleted ? 'deleted' : status,
      ...{ error, conversation, unfinished, questions, cursor },
      entries: unsent.length === 0 ? entries : [...entries, ...unsent],
      ...{ hasOlder: older.page !== null, isLoadingOlder: older.isLoading, drafts: drafts.all() },
    });
  }

  /** For what is known from elsewhere than reads and events. */
  function change(to: (state: FoldState) => FoldState): void {
    folding.change(to);
    drafts.follow(folding.truth().questions);
    pacing.now();
  }

  /** What was sent from here, and is known of before the answer to that has come, takes the place of its entry. */
  function adopt(message: Message): void {
    const known = folding.truth();
    if (entryOf(known, keyOf(known, message.id)) !== undefined) return;
    const key = outgoing.adopt(message);
    folding.change((state) => withAlias(state, message.id, key));
  }

  const follower: ConversationFollower = {
    onBegin() {
      accepted = [];
      draftIds = stored.questionIds();
    },
    onRead(conversation, { items, nextPage }) {
      const messages = [...items].reverse();
      // What is found at first was written before.
      if (folding.truth().conversation !== null) messages.forEach(adopt);
      folding.begin(addMessages(foldOf(conversation, messages, folding.truth().aliases), accepted));
      status = 'ready';
      error = null;
      older = { page: nextPage, isLoading: false };
      const { pendingQuestions } = conversation;
      const pending = new Set(pendingQuestions.map(({ id }) => id));
      if (pending.size < MAX_PENDING_READ) for (const id of draftIds) if (!pending.has(id)) drafts.forget(id);
      drafts.follow(pendingQuestions);
      pacing.soon();
    },
    onItem(item) {
      if (isServerEvent(item) && item.type === 'message.completed') adopt(item.data.message);
      const before = folding.shown();
      folding.tell(item);
      if (folding.shown() === before) return;
      drafts.follow(folding.truth().questions);
      if (item.type === 'message.delta') pacing.later();
      else pacing.soon();
    },
    onFailed({ code, message }) {
      const wasThere = folding.truth().conversation !== null;
      status = code === 'not_found' && wasThere ? 'deleted' : 'failed';
      error = status === 'failed' ? { code, message } : null;
      pacing.soon();
    },
  };

  return {
    getSnapshot: store.getSnapshot,
    subscribe(listener) {
      const stop = store.subscribe(listener);
      subscribers += 1;
      if (subscribers === 1) {
        running = new AbortController();
        const { signal } = running;
        void followConversation(client, conversationId, { pageSize, waker: wakerOf(client), signal }, follower);
      }
      let isSubscribed = true;
      return () => {
        if (!isSubscribed) return;
        isSubscribed = false;
        stop();
        subscribers -= 1;
        if (subscribers > 0) return;
        running.abort();
        pacing.end();
      };
    },
    send(message) {
      const sending = outgoing.send(message);
      pacing.now();
      return sending;
    },
    discard(key) {
      outgoing.discard(key);
      pacing.now();
    },
    setDraft(questionId, values) {
      drafts.set(questionId, values);
      pacing.now();
    },
    answer(questionId, answers) {
      const answering = drafts.answer(questionId, answers);
      pacing.now();
      return answering;
    },
    async decline(questionId, reason) {
      const body = reason === undefined ? {} : { reason };
      const question = await questions.decline(questionId, body).catch(resolvedBefore);
      change((state) => questionResolved(state, question));
    },
    async cancel() {
      const roots = folding.truth().unfinished.filter(({ taskId, rootId }) => taskId === rootId);
      await Promise.all(roots.map(({ taskId }) => tasks.cancel(taskId).catch(finishedBefore)));
    },
    async loadOlder() {
      const { page, isLoading } = older;
      if (page === null || isLoading) return;
      const loading = { page, isLoading: true };
      older = loading;
      pacing.now();
      try {
        const { items, nextPage } = await conversations.messages(conversationId, {
          order: 'desc',
          limit: pageSize,
          page,
        });
        // Unless all was read again meanwhile.
        if (older !== loading) return;
        older = { page: nextPage, isLoading: false };
        change((state) => addMessages(state, [...items].reverse()));
      } finally {
        if (older === loading) older = { page, isLoading: false };
        pacing.now();
      }
    },
  };
}

/** Somebody was faster, which is as good. */
function resolvedBefore(error: unknown): Question {
  if (error instanceof HoldfastError && error.question !== null) return error.question;
  throw error;
}

function finishedBefore(error: unknown): void {
  if (!(error instanceof HoldfastError) || error.code !== 'task_finished') throw error;
}
