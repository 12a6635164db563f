import type { Message } from '../../model/event.ts';
import type { Task } from '../../model/task.ts';
import type { OpenConversation } from '../client.ts';
import { isServerEvent, type ServerEvent, type StreamItem } from '../event.ts';
import type { TurnView } from './conversation-view.ts';
import { addRead } from './entry-place.ts';
import { messageCompleted, messageDelta, messageDiscarded, messageStarted, toMessageEntry } from './fold-messages.ts';
import { questionAsked, questionEnded, toQuestionEntry } from './fold-questions.ts';
import { EMPTY_FOLD, type FoldState } from './fold-state.ts';
import { changeActivity, stepFailed, stepStarted, toolCalled, toolReturned } from './fold-steps.ts';
import { taskEvent } from './fold-tasks.ts';

/**
 * What a page shows before any event is told: what was read, in this order.
 *
 * @param messages of the last page
 * @param aliases see {@link FoldState.aliases}
 * @see docs/protocol.md §7, recovery of a page
 */
export function foldOf(
  { unfinishedTasks, pendingQuestions, resumeAfter, ...conversation }: OpenConversation,
  messages: readonly Message[],
  aliases: FoldState['aliases'],
): FoldState {
  const empty = { ...EMPTY_FOLD, aliases };
  const state = {
    ...empty,
    conversation,
    unfinished: unfinishedTasks.map(toTurnView),
    questions: pendingQuestions,
    cursor: resumeAfter,
  };
  return addRead(addMessages(state, messages), pendingQuestions.map(toQuestionEntry));
}

/** Adds messages that were read, or that the server has accepted, if they are not there yet. */
export function addMessages(state: FoldState, messages: readonly Message[]): FoldState {
  return addRead(
    state,
    messages.map((message) => toMessageEntry(state, message)),
  );
}

/** What is shown once an item of the stream has been told: no I/O, no clock, the same for the same. */
export function fold(state: FoldState, item: StreamItem): FoldState {
  return { ...(isServerEvent(item) ? applied(state, item) : state), cursor: item.id };
}

function applied(state: FoldState, event: ServerEvent): FoldState {
  const { taskId, at } = event;
  if (taskId === null) return conversationEvent(state, event);
  switch (event.type) {
    case 'message.started':
      return messageStarted(state, event, taskId);
    case 'message.delta':
      return messageDelta(state, event.data);
    case 'message.completed':
      return messageCompleted(state, event.data.message, at);
    case 'message.discarded':
      return messageDiscarded(state, event.data.messageId);
    case 'question.asked':
      return questionAsked(state, event.data.question, at);
    case 'question.answered':
    case 'question.declined':
    case 'question.expired':
    case 'question.cancelled':
      return questionEnded(state, event);
    case 'step.started':
      return stepStarted(state, taskId, event.data, event);
    case 'step.completed': {
      const { name, ms } = event.data;
      return changeActivity(state, taskId, name, (activity) => ({ ...activity, status: 'completed', ms }));
    }
    case 'step.failed':
      return changeActivity(state, taskId, event.data.name, (activity) => stepFailed(activity, event.data, at));
    case 'tool.called':
      return changeActivity(state, taskId, event.step?.name, (activity) => toolCalled(activity, event.data));
    case 'tool.returned':
      return changeActivity(state, taskId, event.step?.name, (activity) => toolReturned(activity, event.data));
    case 'conversation.created':
    case 'conversation.updated':
    case 'conversation.deleted':
      return state;
    default:
      return taskEvent(state, event, taskId);
  }
}

function conversationEvent(state: FoldState, event: ServerEvent): FoldState {
  switch (event.type) {
    case 'conversation.updated':
      return { ...state, conversation: event.data.conversation };
    case 'conversation.deleted':
      return { ...state, isDeleted: true, unfinished: [], questions: [] };
    default:
      return state;
  }
}

function toTurnView({ id, rootId, agent, status, attempt, progress }: Task): TurnView {
  return { taskId: id, rootId, agent, status, attempt, progress, waitingFor: [], waitingUntil: null };
}
