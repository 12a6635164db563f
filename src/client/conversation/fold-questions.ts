import type { Question } from '../../model/question.ts';
import type { ServerEvent } from '../event.ts';
import type { QuestionEntry } from './conversation-view.ts';
import { entryOf, replace, tell } from './entry-place.ts';
import type { FoldState } from './fold-state.ts';

export type ResolutionEvent = Extract<
  ServerEvent,
  { type: 'question.answered' | 'question.declined' | 'question.expired' | 'question.cancelled' }
>;

const STATUS = {
  'question.answered': 'answered',
  'question.declined': 'declined',
  'question.expired': 'expired',
  'question.cancelled': 'cancelled',
} as const satisfies Record<ResolutionEvent['type'], Question['status']>;

/** One that is known as resolved is not pending again because its asking is told. */
export function questionAsked(state: FoldState, asked: Question, at: string): FoldState {
  const known = entryOf(state, asked.id);
  const entry = known?.kind === 'question' ? known : toQuestionEntry(asked);
  const told = tell(state, entry, at);
  const isNew = entry.question.status === 'pending' && !state.questions.some(({ id }) => id === asked.id);
  return isNew ? { ...told, questions: [...state.questions, asked] } : told;
}

export function questionEnded(state: FoldState, { type, data, at }: ResolutionEvent): FoldState {
  const { questionId, ...how } = data;
  const known = entryOf(state, questionId);
  if (known?.kind !== 'question' || known.question.status !== 'pending') return state;
  return questionResolved(state, { ...known.question, ...how, status: STATUS[type], resolvedAt: at });
}

/** @param question as it is once it is no longer pending */
export function questionResolved(state: FoldState, question: Question): FoldState {
  const questions = state.questions.filter(({ id }) => id !== question.id);
  return replace({ ...state, questions }, toQuestionEntry(question));
}

export function toQuestionEntry(question: Question): QuestionEntry {
  return { kind: 'question', key: question.id, question };
}
