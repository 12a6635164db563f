import type { Issue, TaskError } from '../model/error.ts';
import type { Json } from '../model/json.ts';
import type { AgentSummary, Command, Report } from './protocol.ts';

/** The background workers: threads that run agents' code and hold no database handle. */
export interface Pool {
  /** What the agents' module exports; known once the pool has started. */
  readonly agents: readonly AgentSummary[];
  /** How many more copies may run now; copies that wait count nothing. */
  freeSlots(): number;
  /** True while every thread is up and answers. */
  isHealthy(): boolean;
  /**
   * Sends a command to the thread that holds the copy; a `start` goes to the one with the most free slots. One for a
   * copy that is gone is dropped.
   */
  send(command: Command): void;
  /**
   * Checks an input against the agent's schema, in a thread.
   *
   * @returns null when it is good
   * @throws HoldfastError `overloaded` when no thread answers within 2 s
   */
  validate(agent: string, input: Json): Promise<Issue[] | null>;
  /** Ends all threads. */
  stop(): Promise<void>;
}

export interface PoolOptions {
  /** How many threads. */
  size: number;
  /** `file:` URLs. */
  agentModules: string[];
  /** Called with every batch of copies' reports, in the order in which the thread sent them. */
  onReports(worker: number, reports: Report[]): void;
  /** A thread is gone, and with it these copies, running and waiting. */
  onLost(copies: { taskId: string; fence: number }[], error: TaskError): void;
}
