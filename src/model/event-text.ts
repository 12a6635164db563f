import type { NewEvent } from './event.ts';

const FIELDS = 4;

/**
 * Events as one string, in which they cross from thread to thread at the price of their bytes instead of their objects.
 * Ids, types and JSON texts hold no raw line break, so each field is a line.
 */
export function packEvents(events: readonly NewEvent[]): string {
  let text = '';
  for (const { taskId, type, step, data } of events) text += `${taskId ?? ''}\n${type}\n${step ?? ''}\n${data}\n`;
  return text;
}

/** The events of {@link packEvents}. */
export function unpackEvents(text: string): NewEvent[] {
  const lines = text.split('\n');
  const events: NewEvent[] = [];
  for (let at = 0; at + FIELDS < lines.length; at += FIELDS) {
    const step = lines[at + 2] ?? '';
    events.push({
      taskId: lines[at] ?? '',
      conversationId: null,
      type: lines[at + 1] ?? '',
      step: step === '' ? null : step,
      data: lines[at + 3] ?? '',
    });
  }
  return events;
}
