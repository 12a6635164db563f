import type { LogEvent } from '../../src/client/index.ts';

const START = Date.parse('2026-12-01T12:00:00.000Z');

/** An event of a task, so many seconds after the first. */
export function eventOf(type: string, data: object, more: Partial<LogEvent> & { second?: number } = {}): LogEvent {
  const { second = 0, ...place } = more;
  const at = new Date(START + second * 1000).toISOString();
  const event = { id: `abcdefgh.${second}`, seq: second, taskId: 'task_1', conversationId: null, at, type, data };
  return { ...event, ...place } as LogEvent;
}

/** Epoch ms. */
export function atSecond(second: number): number {
  return START + second * 1000;
}
