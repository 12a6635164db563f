import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import type { LogEvent } from '../support/sse-reader.ts';
import type { Effect } from './agents/effects.ts';
import type { Life, Reading, Request } from './history.ts';

/** An event as the log tells it in the end. */
export interface Logged extends LogEvent {
  /** Its cursor, and its line of JSON, as they stood on the wire. */
  id: string;
  text: string;
}

/** That a node began with a task, or went on with it. */
export interface Claim {
  taskId: string;
  /** Epoch ms. */
  at: number;
}

/** All that is known of a round when it is over: what the rules judge. */
export interface Story {
  requests: readonly Request[];
  readings: readonly Reading[];
  lives: readonly Life[];
  effects: readonly Effect[];
  /** The whole log, tasks and questions, as the last life of the server shows them. */
  log: readonly Logged[];
  tasks: readonly Task[];
  questions: readonly Question[];
  /** What was unfinished when nothing had moved for so long that the round gave up; empty when all came to its end. */
  stuck: readonly Task[];
  /** Where several nodes share a database, which may lose a task and claim it again and say nothing of that: every claim. */
  claims?: readonly Claim[];
  mayReset: boolean;
}

/** The events of each task, in the order of the log. */
export function eventsByTask(log: readonly Logged[]): Map<string, Logged[]> {
  const byTask = new Map<string, Logged[]>();
  for (const event of log) {
    const own = byTask.get(event.taskId);
    if (own === undefined) byTask.set(event.taskId, [event]);
    else own.push(event);
  }
  return byTask;
}

export function isTerminal({ type }: LogEvent): boolean {
  return type === 'task.completed' || type === 'task.failed' || type === 'task.cancelled';
}
