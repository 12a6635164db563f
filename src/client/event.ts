import type { ResetReason } from '../model/error.ts';
import type { EventData, ServerEventType, StepRef } from '../model/event.ts';
import type { Json } from '../model/json.ts';

interface Place {
  /** The cursor at this event: whoever holds the state up to here goes on after it. */
  id: string;
  /** Its place in the log: 1, 2, 3 …, without gaps; a filter leaves some out. */
  seq: number;
  /** Null for what happened to a conversation itself. */
  taskId: string | null;
  /** The task at the top of the tree; only of a child's events. */
  rootId?: string;
  conversationId: string | null;
  /** ISO 8601, by the server's clock. */
  at: string;
  /** Only of what a step sent. */
  step?: StepRef;
}

/** What Holdfast itself tells of. @see docs/protocol.md §8 */
export type ServerEvent = { [T in ServerEventType]: Place & { type: T; data: EventData[T] } }[ServerEventType];

/** What an agent told with `emit`: any dotted name that is none of the server's. */
export type AgentEvent = Place & { type: `${string}.${string}`; data: Json };

export type LogEvent = ServerEvent | AgentEvent;

/** All that was on disk has been told; what follows happens now. Again after each reconnect, and while nothing comes. */
export interface CaughtUp {
  type: 'caught-up';
  id: string;
}

/**
 * The cursor could not be served. What the caller has built from events before may be wrong: it reads its state again
 * over REST. What follows tells unfinished work from its beginning.
 */
export interface Reset {
  type: 'reset';
  id: string;
  reason: ResetReason;
}

/** An event of the log, whose `type` has a dot in it, or a signal of the stream. */
export type StreamItem = LogEvent | CaughtUp | Reset;

const SERVER_PREFIX = /^(task|question|message|conversation|step|tool)\./;

/** Tells the server's own events, whose `data` their `type` decides, from agents' events and the stream's signals. */
export function isServerEvent(item: StreamItem): item is ServerEvent {
  return SERVER_PREFIX.test(item.type);
}
