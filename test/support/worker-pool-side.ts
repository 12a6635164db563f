import type { TaskError } from '../../src/model/task-error.ts';
import { createPool, type Pool, type PoolOptions } from '../../src/worker/pool.ts';
import type { Report } from '../../src/worker/protocol.ts';

export interface Loss {
  copies: { taskId: string; fence: number }[];
  error: TaskError;
  cause: unknown;
}

/** A pool whose reports and losses are kept, to be waited for. Nothing is acknowledged by itself. */
export class PoolSide {
  readonly reports: { worker: number; report: Report }[] = [];
  readonly losses: Loss[] = [];
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
      onLost: (copies, error, cause) => {
        side.losses.push({ copies, error, cause });
        side.#wake();
      },
      ...options,
    });
    return side;
  }

  get pool(): Pool {
    if (this.#pool === null) throw new Error('The pool has not been started.');
    return this.#pool;
  }

  begin(taskId: string, agent: string, fence = 1): void {
    const rest = { attempt: 1, version: '1', input: {}, seed: taskId, originAt: 0 };
    this.pool.send({ kind: 'start', taskId, fence, agent, ...rest });
  }

  /** The first report of this kind from the task, as soon as it has come. */
  async report<K extends Report['kind']>(taskId: string, kind: K): Promise<{ worker: number; n: number }> {
    const find = () =>
      this.reports.find(({ report }) => 'n' in report && report.taskId === taskId && report.kind === kind);
    await this.until(() => find() !== undefined);
    const found = find();
    if (found === undefined || !('n' in found.report)) throw new Error('It was there.');
    return { worker: found.worker, n: found.report.n };
  }

  async ack(taskId: string, kind: Report['kind'], fence = 1): Promise<void> {
    const { n } = await this.report(taskId, kind);
    this.pool.send({ kind: 'ack', taskId, fence, n, at: 1 });
  }

  async loss(): Promise<Loss> {
    await this.until(() => this.losses.length > 0);
    const loss = this.losses.shift();
    if (loss === undefined) throw new Error('It was there.');
    return loss;
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
