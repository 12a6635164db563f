import { agentEventFault, MAX_EVENT_BYTES, type NewEvent, newEvent } from '../model/event.ts';
import { type Json, utf8Bytes } from '../model/json.ts';
import { jsonText } from './json-text.ts';

/**
 * An event of an agent's own, its data as it is now.
 *
 * @throws TypeError when the type or the data break a rule
 */
export function agentEvent(taskId: string, type: string, data: Json = {}): NewEvent {
  if (typeof type !== 'string') throw new TypeError('An event type is a string.');
  const text = jsonText(data);
  const fault = agentEventFault(type, text);
  if (fault !== null) throw new TypeError(fault);
  return { taskId, conversationId: null, type, step: null, data: text };
}

/** @throws TypeError when the fraction or the note breaks a rule */
export function progressEvent(taskId: string, fraction: number | null, note?: string): NewEvent {
  if (fraction !== null && !(typeof fraction === 'number' && fraction >= 0 && fraction <= 1)) {
    throw new TypeError(`Progress is a fraction from 0 to 1, or null; not ${String(fraction)}.`);
  }
  if (note !== undefined && typeof note !== 'string') throw new TypeError('The note of a progress is a string.');
  const event = newEvent(taskId, 'task.progress', { fraction, note: note ?? null });
  if (utf8Bytes(event.data) > MAX_EVENT_BYTES) throw new TypeError('The note of a progress is too long.');
  return event;
}
