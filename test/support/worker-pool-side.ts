import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { TaskError } from '../../src/model/task-error.ts';
import { createPool, type Pool, type PoolOptions } from '../../src/worker/pool.ts';
import type { Report, StartRow } from '../../src/worker/protocol.ts';
import type { Lost } from '../../src/worker/thread-death.ts';

const NOTHING = { emits: 0, rows: [] };

export type Loss = Lost & { cause: unknown };

export interface Failure {
  taskId: string;
  fence: number;
  error: TaskError;
  stack: string;
}

/** A pool whose reports and losses are kept, to be waited for. Nothing is acknowledged by itself. */
export class PoolSide {
  readonly reports: { worker: number; report: Report }[] = [];
  readonly losses: Loss[] = [];
  readonly failures: Failure[] = [];
  /** How long the loop of this thread stood still, in ns. */
  readonly lag = monitorEventLoopDelay();
  #pool: Pool | null = null;
  #wake: () => void = () => {};

  static async start(options: Partial<PoolOptions> & Pick<PoolOptions, 'agentModules'>): Promise<PoolSide> {
    const side = new PoolSide();
    side.#pool = await createPool({
      size: 1,
      onReports: (worker, reports) => {
        side.reports.push(...reports.map((report) => ({ worker, report })));
        side.#wake();
      },
      onFailed: (taskId, fence, error, stack) => {
        side.failures.push({ taskId, fence, error, stack });
        side.#wake();
      },
      onLost: (lost, cause) => {
        side.losses.push({ ...lost, cause });
        side.#wake();
      },
      ...options,
    });
    side.lag.enable();
    return side;
  }

  get pool(): Pool {
    if (this.#pool === null) throw new Error('The pool has not been started.');
    return this.#pool;
  }

  begin(taskId: string, agent: string, fence = 1, from: { emits: number; rows: StartRow[] } = NOTHING): void {
    const rest = {
      attempt: 1,
      version: '1',
      conversationId: null,
      input: {},
      seed: taskId,
      originAt: 0,
      marks: [],
      ...from,
    };
    this.pool.send({ kind: 'start', taskId, fence, agent, ...rest });
  }

  /** Begins the neighbour and brings it to where it waits for an answer. */
  async beginWaiting(taskId: string): Promise<{ worker: number }> {
    this.begin(taskId, 'neighbour');
    const place = await this.report(taskId, 'append');
    await this.ack(taskId, 'append');
    await this.ack(taskId, 'ask');
    const { n } = await this.report(taskId, 'wait');
    this.pool.send({ kind: 'waited', taskId, fence: 1, n, answer: 'waiting' });
    return place;
  }

  /** The first report of this kind from the task, as soon as it has come. */
  async report<K extends Report['kind']>(
    taskId: string,
    kind: K,
    fence?: number,
  ): Promise<{ worker: number; n: number }> {
    const isIt = ({ report }: { report: Report }) =>
      'fence' in report &&
      report.taskId === taskId &&
      report.kind === kind &&
      (fence === undefined || report.fence === fence);
    await this.until(() => this.reports.some(isIt));
    const found = this.reports.find(isIt);
    if (found === undefined) throw new Error('It was there.');
    return { worker: found.worker, n: 'n' in found.report ? found.report.n : 0 };
  }

  async ack(taskId: string, kind: Report['kind'], fence = 1): Promise<void> {
    const { n } = await this.report(taskId, kind);
    this.pool.send({ kind: 'ack', taskId, fence, n });
  }

  async loss(): Promise<Loss> {
    await this.until(() => this.losses.length > 0);
    const loss = this.losses.shift();
    if (loss === undefined) throw new Error('It was there.');
    return loss;
  }

  async failure(): Promise<Failure> {
    await this.until(() => this.failures.length > 0);
    const failure = this.failures.shift();
    if (failure === undefined) throw new Error('It was there.');
    return failure;
  }

  /** Looks again whenever the pool has told something, and from time to time, for what it does not tell. */
  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 20);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}
