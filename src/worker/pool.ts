import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError, type Issue } from '../model/error.ts';
import type { Json } from '../model/json.ts';
import { type TaskError, taskError } from '../model/task-error.ts';
import type { CopyCommand } from './copy.ts';
import { errorMessage } from './error-message.ts';
import { PooledWorker, VALIDATION_TIMEOUT_MS } from './pooled-worker.ts';
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
   * Sends a command to the thread that holds the copy; a `start` goes to the one with the most free slots among those
   * that answer. One for a copy that is gone is dropped.
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
  /** An agent threw, and where: for the log. */
  onThrown?(taskId: string, agent: string, stack: string): void;
  /**
   * A thread is gone, and with it these copies, running and waiting; none of them, when it is one that had never come up
   * in the place of another. It is being replaced.
   *
   * @param error what the tasks may tell their clients: no word of it comes from an agent's code
   * @param cause what was thrown, or an error that says what happened: for the logger
   */
  onLost(copies: { taskId: string; fence: number }[], error: TaskError, cause: unknown): void;
  /** How long a thread may give no sign of life before it is ended. Default 10 s. */
  unresponsiveAfterMs?: number;
  /** How much heap each thread may use, in MiB, before it is ended. Default 1024. */
  heapMb?: number;
}

type CopyStart = Extract<Command, { kind: 'start' }>;

const DEFAULT_UNRESPONSIVE_AFTER_MS = 10_000;
const DEFAULT_HEAP_MB = 1024;
/** A thread that was up for so long has not died at once: the next one comes without delay. */
const STABLE_AFTER_MS = 10_000;
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5000;

/**
 * Starts the threads and keeps their number: one that ends is replaced.
 *
 * @throws Error saying why, when a thread cannot load the agents
 */
export async function createPool(options: PoolOptions): Promise<Pool> {
  const pool = new WorkerPool(options);
  await pool.start();
  return pool;
}

class WorkerPool implements Pool {
  agents: readonly AgentSummary[] = [];
  readonly #options: PoolOptions;
  readonly #workers = new Map<number, PooledWorker>();
  /** Starts that came while no thread was up. */
  #unplaced: CopyStart[] = [];
  /** Who waits for a thread to come up. */
  readonly #awaiting = new Set<() => void>();
  #isStopped = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    try {
      await Promise.all(Array.from({ length: this.#options.size }, (_, index) => this.#hire(index, 0)));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  freeSlots(): number {
    return this.#all().reduce((sum, { freeSlots }) => sum + freeSlots, 0);
  }

  isHealthy(): boolean {
    return this.#workers.size === this.#options.size && this.#all().every(({ answers }) => answers);
  }

  send(command: Command): void {
    if (command.kind === 'start') this.#place(command);
    else if ('taskId' in command) this.#pass(command);
  }

  async validate(agent: string, input: Json): Promise<Issue[] | null> {
    const worker = this.#freest() ?? (await this.#nextUp());
    if (worker === null) throw new HoldfastError('overloaded', 'No worker is up to check the input.');
    return worker.validate(agent, input);
  }

  /** The next thread to come up; null when none does in time. */
  #nextUp(): Promise<PooledWorker | null> {
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(timer);
        this.#awaiting.delete(settle);
        resolve(this.#freest());
      };
      const timer = setTimeout(settle, VALIDATION_TIMEOUT_MS);
      this.#awaiting.add(settle);
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#all().map((worker) => worker.stop()));
    this.#workers.clear();
  }

  #all(): PooledWorker[] {
    return [...this.#workers.values()];
  }

  /** A thread that does not answer is taken only where none does: it may be in a loop that never ends. */
  #freest(): PooledWorker | null {
    const up = this.#all().filter(({ isUp }) => isUp);
    const answering = up.filter(({ answers }) => answers);
    const [first, ...others] = answering.length > 0 ? answering : up;
    if (first === undefined) return null;
    return others.reduce((best, worker) => (worker.freeSlots > best.freeSlots ? worker : best), first);
  }

  #pass(command: CopyCommand): void {
    const { taskId } = command;
    if (command.kind === 'drop') this.#unplaced = this.#unplaced.filter((start) => start.taskId !== taskId);
    this.#all()
      .find((worker) => worker.holds(taskId))
      ?.send(command);
  }

  #place(start: CopyStart): void {
    const worker = this.#freest();
    if (worker === null) this.#unplaced.push(start);
    else worker.send(start);
  }

  /**
   * Resolves when the thread is up, and from then on replaces it when it ends.
   *
   * @param failures how many threads in a row have not lived long in this place
   * @throws Error when it ends before it is up
   */
  #hire(index: number, failures: number): Promise<void> {
    const { agentModules, onReports, onLost } = this.#options;
    const { heapMb = DEFAULT_HEAP_MB, unresponsiveAfterMs = DEFAULT_UNRESPONSIVE_AFTER_MS } = this.#options;
    return new Promise((resolve, reject) => {
      let upSince: number | null = null;
      const worker = new PooledWorker({
        agentModules,
        heapMb,
        unresponsiveAfterMs,
        onReady: (agents) => {
          upSince = performance.now();
          this.agents = agents;
          const unplaced = this.#unplaced;
          this.#unplaced = [];
          for (const start of unplaced) this.#place(start);
          for (const settle of this.#awaiting) settle();
          resolve();
        },
        onReports: (reports) => onReports(index, reports),
        onThrown: (taskId, agent, stack) => this.#options.onThrown?.(taskId, agent, stack),
        onGone: (copies, error, cause) => {
          this.#workers.delete(index);
          if (upSince === null) return reject(new Error(errorMessage(cause), { cause }));
          onLost(copies, error, cause);
          void this.#replace(index, performance.now() - upSince < STABLE_AFTER_MS ? failures + 1 : 0);
        },
      });
      this.#workers.set(index, worker);
    });
  }

  /** The first early death is taken for an agent's doing; those after it are given more and more time. */
  async #replace(index: number, failures: number): Promise<void> {
    if (failures > 1) {
      const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 2));
      await delay(backoffMs, undefined, { ref: false });
    }
    if (this.#isStopped) return;
    try {
      await this.#hire(index, failures);
    } catch (error) {
      this.#options.onLost([], taskError('worker_exited', 'The worker has not come up.'), error);
      await this.#replace(index, failures + 1);
    }
  }
}
