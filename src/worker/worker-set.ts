import { setTimeout as delay } from 'node:timers/promises';
import { taskError } from '../model/task-error.ts';
import { errorMessage } from './error-message.ts';
import { type Gone, PooledWorker, type PooledWorkerOptions } from './pooled-worker.ts';
import type { AgentSummary, Report } from './protocol.ts';

export interface WorkerSetOptions {
  /** How many threads there should be that are shared by many copies. */
  size: number;
  thread: Pick<
    PooledWorkerOptions,
    'agentModules' | 'agentEnv' | 'memoryMb' | 'unresponsiveAfterMs' | 'onThrown' | 'onFailed'
  >;
  onReady(agents: AgentSummary[]): void;
  onReports(worker: number, reports: Report[]): void;
  /** A thread is gone, or one has not come up in the place of another. */
  onGone(gone: Gone): void;
}

/** A thread that was up for so long has not died at once: the next one comes without delay. */
const STABLE_AFTER_MS = 10_000;
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5000;

/** The threads: those that are shared, whose number is kept, and those that each have one copy for themselves. */
export class WorkerSet {
  readonly #options: WorkerSetOptions;
  /** By numbers that are never given again. */
  readonly #shared = new Map<number, PooledWorker>();
  readonly #alone = new Map<number, PooledWorker>();
  #lastNumber = 0;
  #isStopped = false;

  constructor(options: WorkerSetOptions) {
    this.#options = options;
  }

  get shared(): PooledWorker[] {
    return [...this.#shared.values()];
  }

  get alone(): PooledWorker[] {
    return [...this.#alone.values()];
  }

  get all(): PooledWorker[] {
    return [...this.shared, ...this.alone];
  }

  byNumber(number: number): PooledWorker | undefined {
    return this.#shared.get(number) ?? this.#alone.get(number);
  }

  /** @throws Error saying why, when one of them ends before it is up */
  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.size }, () => this.#hire(0)));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const all = this.all;
    this.#shared.clear();
    this.#alone.clear();
    await Promise.all(all.map((worker) => worker.stop()));
  }

  /** Opens a thread for one copy. */
  openAlone(): PooledWorker {
    const { onReady, onGone } = this.#options;
    return this.#open(this.#alone, onReady, onGone);
  }

  /** Ends the threads that have had one copy for themselves and have it no longer. */
  dismissIdle(): void {
    for (const [number, worker] of this.#alone) {
      if (!worker.isEmpty) continue;
      this.#alone.delete(number);
      void worker.stop();
    }
  }

  /**
   * Resolves when the thread is up, and from then on replaces it when it ends.
   *
   * @param failures how many threads in a row have not lived long in this place
   * @throws Error when it ends before it is up
   */
  #hire(failures: number): Promise<void> {
    const { onReady, onGone } = this.#options;
    return new Promise((resolve, reject) => {
      let upSince: number | null = null;
      const onUp = (agents: AgentSummary[]) => {
        upSince = performance.now();
        onReady(agents);
        resolve();
      };
      this.#open(this.#shared, onUp, (gone) => {
        if (upSince === null) return reject(new Error(errorMessage(gone.cause), { cause: gone.cause }));
        onGone(gone);
        void this.#replace(performance.now() - upSince < STABLE_AFTER_MS ? failures + 1 : 0);
      });
    });
  }

  /** The first early death is taken for an agent's doing; those after it are given more and more time. */
  async #replace(failures: number): Promise<void> {
    if (failures > 1) {
      const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 2));
      await delay(backoffMs, undefined, { ref: false });
    }
    if (this.#isStopped) return;
    try {
      await this.#hire(failures);
    } catch (cause) {
      const error = taskError('worker_exited', 'The worker has not come up.');
      this.#options.onGone({ lost: { copies: [], culprit: null, error }, cause, suspects: [] });
      await this.#replace(failures + 1);
    }
  }

  #open(
    place: Map<number, PooledWorker>,
    onReady: (agents: AgentSummary[]) => void,
    onGone: (gone: Gone) => void,
  ): PooledWorker {
    const number = ++this.#lastNumber;
    const worker = new PooledWorker({
      ...this.#options.thread,
      onReady,
      onReports: (reports) => this.#options.onReports(number, reports),
      onGone: (gone) => {
        place.delete(number);
        onGone(gone);
      },
    });
    place.set(number, worker);
    return worker;
  }
}
