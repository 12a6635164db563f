import { type Conversation, isServerEvent, type LogEvent, type Question, type Task } from '../../client/index.ts';

/** What of a task the navigation and the lists need. */
export type OverviewTask = Pick<Task, 'id' | 'rootId' | 'agent' | 'status' | 'conversationId' | 'createdAt'>;

/** Everything that wants somebody's attention, whatever page is open. */
export interface OverviewState {
  /** By id; the first page of the list and what has become active since. */
  conversations: ReadonlyMap<string, Conversation>;
  /** Unfinished ones by id, children too. */
  tasks: ReadonlyMap<string, OverviewTask>;
  /** Pending ones by id, oldest first. */
  questions: ReadonlyMap<string, Question>;
  /** Those that were resolved while this page watched, newest first. */
  resolved: readonly Question[];
}

export const EMPTY_OVERVIEW: OverviewState = {
  conversations: new Map(),
  tasks: new Map(),
  questions: new Map(),
  resolved: [],
};

const MAX_RESOLVED = 50;

/** Brings the overview up to what an event tells; the same object when it tells nothing of it. Events may come again. */
export function withEvent(state: OverviewState, event: LogEvent): OverviewState {
  if (!isServerEvent(event)) return state;
  const { taskId, at } = event;
  switch (event.type) {
    case 'conversation.created':
    case 'conversation.updated':
      return { ...state, conversations: withEntry(state.conversations, event.data.conversation) };
    case 'conversation.deleted':
      return withoutConversation(state, event.data.conversationId);
    case 'message.completed':
      return event.data.message.role === 'user' ? withActivity(state, event.conversationId, at) : state;
    case 'task.created': {
      if (taskId === null) return state;
      const { rootId = taskId, conversationId } = event;
      const task = { id: taskId, rootId, agent: event.data.agent, conversationId, createdAt: at };
      return { ...state, tasks: withEntry(state.tasks, { ...task, status: 'queued' }) };
    }
    case 'task.started':
    case 'task.resumed':
      return withStatus(state, taskId, 'running');
    case 'task.recovered':
    case 'task.retrying':
      return withStatus(state, taskId, 'queued');
    case 'task.waiting':
      return withStatus(state, taskId, 'waiting');
    case 'task.completed':
    case 'task.failed':
    case 'task.cancelled':
      return { ...state, tasks: withoutEntry(state.tasks, taskId) };
    case 'question.asked':
      return { ...state, questions: withEntry(state.questions, event.data.question) };
    case 'question.answered':
      return closed(state, event.data.questionId, at, { status: 'answered', ...event.data });
    case 'question.declined':
      return closed(state, event.data.questionId, at, { status: 'declined', ...event.data });
    case 'question.expired':
      return closed(state, event.data.questionId, at, { status: 'expired', ...event.data });
    case 'question.cancelled':
      return closed(state, event.data.questionId, at, { status: 'cancelled', ...event.data });
    default:
      return state;
  }
}

/** @param question that is not pending any more, by whatever it is known */
export function withResolved(state: OverviewState, question: Question): OverviewState {
  if (!state.questions.has(question.id)) return state;
  return {
    ...state,
    questions: withoutEntry(state.questions, question.id),
    resolved: [question, ...state.resolved].slice(0, MAX_RESOLVED),
  };
}

/** Newest activity first; of equal ones the newer. */
export function byActivity(conversations: ReadonlyMap<string, Conversation>): Conversation[] {
  const before = (a: string, b: string) => (a === b ? 0 : a < b ? 1 : -1);
  return [...conversations.values()].sort((a, b) => before(a.lastActivityAt, b.lastActivityAt) || before(a.id, b.id));
}

/** `waiting`: for somebody's answer. */
export type ConversationStatus = 'waiting' | 'running' | 'idle';

/** How a conversation stands, and how many of its questions are pending. */
export interface ConversationStanding {
  status: ConversationStatus;
  questionCount: number;
}

export const IDLE: ConversationStanding = { status: 'idle', questionCount: 0 };

/** By id, those in which something goes on; all others are {@link IDLE}. */
export function conversationStandings({
  tasks,
  questions,
}: Pick<OverviewState, 'tasks' | 'questions'>): ReadonlyMap<string, ConversationStanding> {
  const standings = new Map<string, ConversationStanding>();
  for (const { conversationId } of tasks.values()) {
    if (conversationId !== null) standings.set(conversationId, { status: 'running', questionCount: 0 });
  }
  for (const { conversationId } of questions.values()) {
    if (conversationId === null) continue;
    const { questionCount } = standings.get(conversationId) ?? IDLE;
    standings.set(conversationId, { status: 'waiting', questionCount: questionCount + 1 });
  }
  return standings;
}

function withActivity(state: OverviewState, conversationId: string | null, at: string): OverviewState {
  const conversation = conversationId === null ? undefined : state.conversations.get(conversationId);
  if (conversation === undefined || conversation.lastActivityAt >= at) return state;
  return { ...state, conversations: withEntry(state.conversations, { ...conversation, lastActivityAt: at }) };
}

function withStatus(state: OverviewState, taskId: string | null, status: Task['status']): OverviewState {
  const task = taskId === null ? undefined : state.tasks.get(taskId);
  if (task === undefined || task.status === status) return state;
  return { ...state, tasks: withEntry(state.tasks, { ...task, status }) };
}

function withoutConversation(state: OverviewState, conversationId: string): OverviewState {
  const isElsewhere = (each: { conversationId: string | null }) => each.conversationId !== conversationId;
  return {
    conversations: withoutEntry(state.conversations, conversationId),
    tasks: new Map([...state.tasks].filter(([, task]) => isElsewhere(task))),
    questions: new Map([...state.questions].filter(([, question]) => isElsewhere(question))),
    resolved: state.resolved.filter(isElsewhere),
  };
}

function closed(
  state: OverviewState,
  questionId: string,
  resolvedAt: string,
  how: Pick<Question, 'status'> & Partial<Pick<Question, 'answers' | 'reason' | 'resolvedBy'>>,
): OverviewState {
  const question = state.questions.get(questionId);
  if (question === undefined) return state;
  const { status, answers = null, reason = null, resolvedBy = null } = how;
  return withResolved(state, { ...question, status, answers, reason, resolvedBy, resolvedAt });
}

function withEntry<T extends { id: string }>(map: ReadonlyMap<string, T>, value: T): ReadonlyMap<string, T> {
  return new Map(map).set(value.id, value);
}

function withoutEntry<T>(map: ReadonlyMap<string, T>, id: string | null): ReadonlyMap<string, T> {
  if (id === null || !map.has(id)) return map;
  const copy = new Map(map);
  copy.delete(id);
  return copy;
}
