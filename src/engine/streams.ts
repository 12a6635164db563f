import type { StartPoint } from '../model/cursor.ts';
import type { Store } from '../store/store.ts';
import type { Conversations } from './conversations.ts';
import type { Hub } from './hub.ts';
import { type EventsPage, type PageRequest, readEventsPage } from './pages.ts';
import {
  conversationSubject,
  cursorAt,
  EVERYTHING,
  type Position,
  type Start,
  type Subject,
  startOf,
  taskSubject,
} from './position.ts';
import { openTail, type Sink, type Tail, type TailRequest } from './tail.ts';
import type { Tasks } from './tasks.ts';

/** Reading an owner's log from a place on, live or by the page. @see docs/protocol.md §5 */
export interface Streams {
  /** What a task's stream is about. @throws HoldfastError `not_found` */
  ofTask(owner: string, taskId: string): Promise<Subject>;
  /** What a conversation's stream is about. @throws HoldfastError `not_found` */
  ofConversation(owner: string, conversationId: string): Promise<Subject>;
  ofOwner(): Promise<Subject>;
  startOf(owner: string, subject: Subject, asked: StartPoint | null): Promise<Start>;
  cursorAt(owner: string, position: Position): Promise<string>;
  open(request: TailRequest, sink: Sink): Tail;
  page(request: Omit<PageRequest, 'signals'> & { signal: AbortSignal }): Promise<EventsPage>;
}

/** @param stopping ends all waiting when the server stops */
export function createStreams(
  store: Store,
  hub: Hub,
  tasks: Pick<Tasks, 'record'>,
  conversations: Pick<Conversations, 'record'>,
  stopping: AbortSignal,
): Streams {
  return {
    ofTask: async (owner, taskId) => taskSubject(await tasks.record(owner, taskId)),
    ofConversation: async (owner, id) => conversationSubject(await conversations.record(owner, id)),
    ofOwner: async () => EVERYTHING,
    startOf: (owner, subject, asked) => store.snapshot((reads) => startOf(reads, owner, subject, asked)),
    cursorAt: async (owner, position) => cursorAt(await store.log(owner), position),
    open: (request, sink) => openTail(store, hub, request, sink),
    page: (request) => readEventsPage(store, hub, { ...request, signals: [request.signal, stopping] }),
  };
}
