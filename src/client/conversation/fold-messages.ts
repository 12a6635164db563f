import type { EventData, Message } from '../../model/event.ts';
import type { ServerEvent } from '../event.ts';
import type { MessageEntry } from './conversation-view.ts';
import { entryOf, remove, replace, tell } from './entry-place.ts';
import { type FoldState, keyOf } from './fold-state.ts';
import { isOfStep, type StepText } from './fold-steps.ts';

type EventOf<T extends ServerEvent['type']> = Extract<ServerEvent, { type: T }>;

/** What was read as a whole stays a whole, whatever of it is told again. */
export function messageStarted(state: FoldState, event: EventOf<'message.started'>, taskId: string): FoldState {
  const { seq, at, step, data } = event;
  const key = keyOf(state, data.messageId);
  const known = entryOf(state, key);
  const text: StepText = { kind: 'text', key, taskId, messageId: data.messageId, text: '', step };
  // A step that is a `say` is shown as what it says: it begins in the transaction of its message.
  const others = remove(state, (entry) => isOfStep(entry, taskId, step?.name) && entry.seq === seq - 1);
  return tell(others, known?.kind === 'message' ? known : text, at);
}

export function messageDelta(state: FoldState, { messageId, text }: EventData['message.delta']): FoldState {
  const known = entryOf(state, keyOf(state, messageId));
  return known?.kind === 'text' ? replace(state, { ...known, text: known.text + text }) : state;
}

export function messageCompleted(state: FoldState, message: Message, at: string): FoldState {
  const entry = toMessageEntry(state, message);
  const known = entryOf(state, entry.key);
  // Of a turn that began with a message which another one had not taken: it was said before, and keeps its place.
  const isToldAgain = message.role === 'user' && message.createdAt < at;
  if (known === undefined || (state.untold.has(entry.key) && !isToldAgain)) {
    return tell(state, known ?? entry, isToldAgain ? message.createdAt : at);
  }
  return known.kind === 'message' && known.message.taskId === message.taskId ? state : replace(state, entry);
}

export function messageDiscarded(state: FoldState, messageId: string): FoldState {
  const gone = keyOf(state, messageId);
  return remove(state, ({ key }) => key === gone);
}

export function toMessageEntry(state: FoldState, message: Message): MessageEntry {
  return { kind: 'message', key: keyOf(state, message.id), message };
}

/** Keeps the key of the entry that a message was before it had an id, unless it is there already. @param key null for none */
export function withAlias(state: FoldState, messageId: string, key: string | null): FoldState {
  if (key === null || entryOf(state, messageId) !== undefined) return state;
  return { ...state, aliases: new Map(state.aliases).set(messageId, key) };
}
