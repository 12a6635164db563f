import { HoldfastError, type Issue } from '../model/error.ts';
import type { Cut } from '../model/journal.ts';
import type { Json } from '../model/json.ts';
import type { TaskError } from '../model/task-error.ts';
import type { CopyCommand } from './copy.ts';
import { MemoryWatch } from './memory-watch.ts';
import { freest, isBetterAlone, placeFor } from './placement.ts';
import { type Gone, type PooledWorker, VALIDATION_TIMEOUT_MS } from './pooled-worker.ts';
import type { AgentSummary, Command, Report } from './protocol.ts';
import { Suspicions } from './suspicions.ts';
import type { Lost } from './thread-death.ts';
import { WorkerSet } from './worker-set.ts';

/** The background workers: threads that run agents' code and hold no database handle. */
export interface Pool {
  /** What the agents' module exports; known once the pool has started. */
  readonly agents: readonly AgentSummary[];
  /**
   * How many more copies may run now. Copies that wait count nothing, those that were told to stop and have not count for
   * a while; a thread that does not answer has no slots.
   */
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
  /** Replaces a thread that holds too many copies which do not stop; the others in it are lost by nobody's doing. */
  retire(worker: number): void;
  /** Ends all threads. */
  stop(): Promise<void>;
}

export interface PoolOptions {
  /** How many threads. */
  size: number;
  /** `file:` URLs. */
  agentModules: string[];
  /** Variables of the environment that agents get beside the few that all get: names, or beginnings followed by `*`. */
  agentEnv?: readonly string[] | undefined;
  /** Called with every batch of copies' reports, in the order in which the thread sent them. No two threads share a number. */
  onReports(worker: number, reports: Report[]): void;
  /** An agent threw, and where: for the log. */
  onThrown?(taskId: string, agent: string, stack: string): void;
  /**
   * A copy's code threw where nobody can catch it, so that its attempt has failed; the copy, which may have ended by then,
   * is still there. Once for each copy.
   *
   * @param stack where: for the log
   * @param cut where the journal is taken back to; null keeps it whole
   */
  onFailed(taskId: string, fence: number, error: TaskError, stack: string, cut: Cut | null): void;
  /**
   * A thread is gone, and what was in it; nothing, when it is one that had never come up in the place of another. It is
   * being replaced.
   *
   * @param cause what was thrown, or an error that says what happened: for the logger
   */
  onLost(lost: Lost, cause: unknown): void;
  /** How long a thread may give no sign of life before it is ended. Default 10 s. */
  unresponsiveAfterMs?: number;
  /** How much memory each thread may use, heap and Buffers together, in MiB, before it is ended. Default 512. */
  memoryMb?: number | undefined;
}

type CopyStart = Extract<Command, { kind: 'start' }>;

const DEFAULT_UNRESPONSIVE_AFTER_MS = 10_000;
const DEFAULT_MEMORY_MB = 512;
/** How often the threads are looked at. One that fills its memory must be seen in time, which may be a third of a second. */
const LOOK_MS = 25;
/** The thread of a copy that none was given. */
const NO_WORKER = -1;

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
  readonly #workers: WorkerSet;
  readonly #suspicions = new Suspicions();
  readonly #memory = new MemoryWatch();
  /** Starts that came while no thread answered, each with what has been said to its copy since. */
  #unplaced: { start: CopyStart; then: CopyCommand[] }[] = [];
  /** Who waits for a thread to come up. */
  readonly #awaiting = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: PoolOptions) {
    this.#options = options;
    const { size, agentModules, agentEnv = [], onThrown = () => {}, onFailed } = options;
    const { memoryMb = DEFAULT_MEMORY_MB, unresponsiveAfterMs = DEFAULT_UNRESPONSIVE_AFTER_MS } = options;
    this.#workers = new WorkerSet({
      size,
      thread: { agentModules, agentEnv, memoryMb, unresponsiveAfterMs, onThrown, onFailed },
      onReady: (agents) => this.#cameUp(agents),
      onReports: (worker, reports) => this.#reported(worker, reports),
      onGone: (gone) => this.#lost(gone),
    });
    this.#timer = setInterval(() => this.#look(performance.now()), LOOK_MS).unref();
  }

  async start(): Promise<void> {
    try {
      await this.#workers.start();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** What one thread has too many of, the others have too few of: in all there are never more than there are slots. */
  freeSlots(): number {
    const { shared } = this.#workers;
    return Math.max(
      0,
      shared.reduce((sum, { freeSlots }) => sum + freeSlots, 0),
    );
  }

  isHealthy(): boolean {
    const { shared } = this.#workers;
    return shared.length === this.#options.size && shared.every(({ isHealthy }) => isHealthy);
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

  retire(worker: number): void {
    this.#workers.byNumber(worker)?.end('The worker held too much that does not stop.');
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#workers.stop();
  }

  #freest(): PooledWorker | null {
    return freest(this.#workers.shared.filter(({ isHealthy }) => isHealthy));
  }

  #pass(command: CopyCommand): void {
    const { kind, taskId, fence } = command;
    const unplaced = this.#unplaced.find(({ start }) => start.taskId === taskId && start.fence === fence);
    if (unplaced === undefined) {
      this.#workers.all.find((worker) => worker.holds(taskId))?.send(command);
    } else if (kind === 'drop') {
      this.#unplaced = this.#unplaced.filter((each) => each !== unplaced);
      queueMicrotask(() => this.#options.onReports(NO_WORKER, [{ kind: 'released', taskId, fence }]));
    } else {
      unplaced.then.push(command);
    }
  }

  #place(start: CopyStart, then: CopyCommand[] = []): void {
    const { taskId } = start;
    const { shared, alone } = this.#workers;
    const worker = isBetterAlone(this.#suspicions.of(taskId), alone.length)
      ? this.#workers.openAlone()
      : placeFor(taskId, shared, this.#suspicions);
    if (worker === null) this.#unplaced.push({ start, then });
    else for (const command of [start, ...then]) worker.send(command);
  }

  #placeAll(): void {
    const unplaced = this.#unplaced;
    this.#unplaced = [];
    for (const { start, then } of unplaced) this.#place(start, then);
  }

  #look(now: number): void {
    const { rss, heapTotal, external } = process.memoryUsage();
    const workers = this.#workers.all.filter(({ isUp }) => isUp);
    const grown = this.#memory.look(now, rss - heapTotal - external, workers);
    const silent = workers.filter(({ isSilent }) => isSilent);
    for (const worker of workers) worker.look(grown.get(worker) ?? 0, silent.length < 2);
    this.#workers.dismissIdle();
    this.#placeAll();
  }

  #cameUp(agents: AgentSummary[]): void {
    this.agents = agents;
    this.#placeAll();
    for (const settle of this.#awaiting) settle();
  }

  #reported(worker: number, reports: Report[]): void {
    for (const report of reports) if (report.kind === 'end') this.#suspicions.forget(report.taskId);
    this.#options.onReports(worker, reports);
  }

  #lost({ lost, cause, suspects }: Gone): void {
    this.#memory.threadEnded(performance.now());
    this.#suspicions.note(suspects);
    this.#options.onLost(lost, cause);
  }
}
