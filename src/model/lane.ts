import type { TaskRecord } from './task.ts';

/** The lane of tasks that share a `concurrencyKey`: they are begun one after the other, by priority. */
export function keyLane(concurrencyKey: string | null): string | null {
  return concurrencyKey === null ? null : `key ${concurrencyKey}`;
}

/** The lane of a conversation's turns and all their children: a turn begins when those before it have ended, and let go. */
export function turnLane(conversationId: string): string {
  return `${TURNS}${conversationId}`;
}

export function isTurnLane(lane: string): boolean {
  return lane.startsWith(TURNS);
}

/** Children stand in their turn's lane without queueing there. */
export function laneOfChild({ lane }: TaskRecord): string | null {
  return lane !== null && isTurnLane(lane) ? lane : null;
}

const TURNS = 'turn ';
