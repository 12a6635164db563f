export type { Conversation } from '../model/conversation.ts';
export type { ResetReason } from '../model/error.ts';
export type { Message } from '../model/event.ts';
export type { Json, JsonObject } from '../model/json.ts';
export type { Answers, Question, QuestionStatus } from '../model/question.ts';
export type { QuestionItem } from '../model/question-item.ts';
export type { Progress, Task, TaskStatus } from '../model/task.ts';
export type { TaskError } from '../model/task-error.ts';
export type {
  Agent,
  Client,
  Conversations,
  EventsQuery,
  NewMessage,
  NewTask,
  OpenConversation,
  Page,
  PageQuery,
  Questions,
  RequestOptions,
  SendOptions,
  Tasks,
} from './client.ts';
export type { Connection, ConnectionStatus } from './connection.ts';
export {
  type ConversationStore,
  type ConversationStoreOptions,
  createConversationStore,
  type DraftStorage,
} from './conversation/conversation-store.ts';
export type {
  ActivityEntry,
  ConversationView,
  Draft,
  Entry,
  MessageEntry,
  NoticeEntry,
  OutgoingEntry,
  QuestionEntry,
  TextEntry,
  TurnView,
} from './conversation/conversation-view.ts';
export { createClient } from './create-client.ts';
export { HoldfastError } from './error.ts';
export {
  type AgentEvent,
  type CaughtUp,
  isServerEvent,
  type LogEvent,
  type Reset,
  type ServerEvent,
  type StreamItem,
} from './event.ts';
export type { ExternalStore } from './external-store.ts';
export type { ClientOptions } from './options.ts';
