import { expect } from 'vitest';
import { isSignal, type LogEvent, logEvents, type SseBlock } from './sse-reader.ts';

const TERMINAL_STATUS: Record<string, string> = {
  'task.completed': 'completed',
  'task.failed': 'failed',
  'task.cancelled': 'cancelled',
};

/**
 * The check of every stream: of connections whose cursors are chained, the events received are exactly the log's,
 * ascending, each once, and the form of every block is that of docs/protocol.md §5.3.
 *
 * @param connections the blocks of each, in the order in which they were opened
 * @param log what was to be told, from somewhere else than these connections
 */
export function expectExactly(connections: readonly (readonly SseBlock[])[], log: readonly LogEvent[]): void {
  const blocks = connections.flat();
  const told = logEvents(blocks);
  expect(told).toEqual(log.map(withoutId));
  expect(told.every(({ seq }, index) => seq > (told[index - 1]?.seq ?? 0))).toBe(true);
  for (const block of blocks) expectForm(block);
  for (const connection of connections) expectFirstLines(connection);
}

/** Of one task's events: one is terminal, it is the last, and the task agrees. */
export function expectOneEnd(events: readonly LogEvent[], task: { id: string; status: string; rootId: string }): void {
  const own = events.filter(({ taskId }) => taskId === task.id);
  const terminal = own.filter(({ type }) => type in TERMINAL_STATUS);
  expect(terminal.map(({ type }) => TERMINAL_STATUS[type])).toEqual([task.status]);
  expect(own.at(-1)).toBe(terminal[0]);
}

function expectForm(block: SseBlock): void {
  expect(block.data, 'no block is without data').not.toBeNull();
  if (isSignal(block)) {
    expect(block.id === null, `the id of ${block.event}`).toBe(block.event === 'bye');
    return;
  }
  const { seq, type } = JSON.parse(block.data ?? '');
  expect(block.id?.split('.')[1], 'the id stands at the event').toBe(`${seq}`);
  expect([null, type]).toContain(block.event);
  expect(['error', 'open', 'message']).not.toContain(block.event);
}

/** The first block of a connection carries its `retry:`, behind the comment that left at once. */
function expectFirstLines([first, ...others]: readonly SseBlock[]): void {
  if (first === undefined) return;
  expect(first.comments).toContain('ok');
  expect(Number(first.retry)).toBeGreaterThanOrEqual(1000);
  for (const { comments, retry, event } of others) {
    expect(comments).not.toContain('ok');
    expect(retry === null).toBe(event !== 'bye');
  }
}

function withoutId({ id, ...event }: LogEvent & { id?: string }): LogEvent {
  return event;
}
