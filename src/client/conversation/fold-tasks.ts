import type { ServerEvent } from '../event.ts';
import type { Entry, NoticeEntry, TurnView } from './conversation-view.ts';
import { remove, tell } from './entry-place.ts';
import type { FoldState } from './fold-state.ts';
import { closeActivities } from './fold-steps.ts';

export type TaskEvent = Extract<ServerEvent, { type: `task.${string}` }>;

const NOT_WAITING = { waitingFor: [], waitingUntil: null };

export function taskEvent(state: FoldState, event: TaskEvent, taskId: string): FoldState {
  switch (event.type) {
    case 'task.created':
      return begun(state, event, taskId);
    case 'task.started': {
      const { attempt } = event.data;
      return changeTurn(withoutRetrying(state, taskId), taskId, { status: 'running', attempt, ...NOT_WAITING });
    }
    case 'task.waiting': {
      const { for: waitingFor, until: waitingUntil } = event.data;
      return changeTurn(state, taskId, { status: 'waiting', waitingFor, waitingUntil });
    }
    // It is queued in truth, and the claim that mostly follows at once has no event.
    case 'task.resumed':
      return changeTurn(state, taskId, { status: 'running', ...NOT_WAITING });
    case 'task.progress':
      return changeTurn(state, taskId, { progress: event.data });
    case 'task.retrying': {
      const { error, retryAt } = event.data;
      return notice(interrupted(state, taskId), event, taskId, { type: 'retrying', error, retryAt });
    }
    case 'task.recovered':
      return notice(interrupted(state, taskId), event, taskId, { type: 'recovered' });
    case 'task.completed':
      return ended(state, taskId);
    case 'task.failed':
      return notice(ended(state, taskId), event, taskId, { type: 'failed', error: event.data.error });
    case 'task.cancelled':
      return notice(ended(state, taskId), event, taskId, { type: 'cancelled', reason: event.data.reason });
    // What a newer server tells.
    default:
      event satisfies never;
      return state;
  }
}

function begun(state: FoldState, event: Extract<TaskEvent, { type: 'task.created' }>, taskId: string): FoldState {
  if (isUnfinished(state, taskId)) return state;
  const { rootId = taskId, data } = event;
  const turn: TurnView = {
    ...{ taskId, rootId, agent: data.agent, status: 'queued', attempt: 0, progress: null },
    ...NOT_WAITING,
  };
  return { ...state, unfinished: [...state.unfinished, turn] };
}

function isUnfinished({ unfinished }: FoldState, taskId: string): boolean {
  return unfinished.some((turn) => turn.taskId === taskId);
}

function changeTurn(state: FoldState, taskId: string, change: Partial<TurnView>): FoldState {
  if (!isUnfinished(state, taskId)) return state;
  const unfinished = state.unfinished.map((turn) => (turn.taskId === taskId ? { ...turn, ...change } : turn));
  return { ...state, unfinished };
}

/** The attempt is over, and another one will follow. */
function interrupted(state: FoldState, taskId: string): FoldState {
  return changeTurn(closeActivities(state, taskId), taskId, { status: 'queued', ...NOT_WAITING });
}

function ended(state: FoldState, taskId: string): FoldState {
  const closed = closeActivities(withoutRetrying(state, taskId), taskId);
  return { ...closed, unfinished: closed.unfinished.filter((turn) => turn.taskId !== taskId) };
}

/** What becomes of a child is its parent's business. */
function notice(state: FoldState, event: TaskEvent, taskId: string, what: NoticeEntry['notice']): FoldState {
  if (event.rootId !== undefined && event.rootId !== taskId) return state;
  const { seq, at } = event;
  return tell(state, { kind: 'notice', key: `notice ${seq}`, taskId, at, notice: what }, at);
}

function withoutRetrying(state: FoldState, taskId: string): FoldState {
  const isRetrying = (entry: Entry) =>
    entry.kind === 'notice' && entry.taskId === taskId && entry.notice.type === 'retrying';
  return remove(state, isRetrying);
}
