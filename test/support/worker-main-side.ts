import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Agent } from '../../src/worker/define-agent.ts';
import type { Command, CopyReport, Report, Told } from '../../src/worker/protocol.ts';
import { type ReportMessage, unpackReports } from '../../src/worker/report-message.ts';
import { serve } from '../../src/worker/serve.ts';

export type Numbered = { taskId: string; fence: number; n: number } & CopyReport;
type OfKind<K extends Report['kind']> = Extract<Report, { kind: K }>;

/** The main thread's side of a worker that runs in this thread, driven by hand: nothing is answered by itself. */
export class MainSide {
  readonly #port: MessagePort;
  readonly #batches: Report[][] = [];
  readonly #unread: Report[] = [];
  readonly #pongs = new Set<number>();
  #wake: () => void = () => {};
  #clock = 0;
  #lastPing = 0;

  constructor(agents: readonly Agent[]) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.on('message', (message: ReportMessage) => {
      const batch = unpackReports(message);
      this.#batches.push(batch);
      for (const report of batch) {
        if (report.kind === 'pong') this.#pongs.add(report.id);
        else if (report.kind !== 'thrown') this.#unread.push(report);
      }
      this.#wake();
    });
    serve(port2, new Map(agents.map((agent) => [agent.name, agent])));
  }

  /** Every batch that has come, pongs included. */
  get batches(): readonly (readonly Report[])[] {
    return this.#batches;
  }

  /** What has come and was not read yet. */
  get unread(): readonly Report[] {
    return this.#unread;
  }

  /** Sends them in one batch. */
  send(...commands: Command[]): void {
    this.#port.postMessage(commands);
  }

  start(agent: string, options: Partial<Extract<Command, { kind: 'start' }>> = {}): void {
    const defaults = { taskId: 'task_1', fence: 1, attempt: 1, version: '1', input: {}, seed: 'seed', originAt: 1000 };
    this.send({ kind: 'start', agent, ...defaults, ...options });
  }

  async any(): Promise<Report> {
    await this.#until(() => this.#unread.length > 0);
    const [report] = this.#unread.splice(0, 1);
    if (report === undefined) throw new Error('It was there.');
    return report;
  }

  /** The next report, which must be of this kind. */
  async next<K extends Report['kind']>(kind: K): Promise<OfKind<K>> {
    const report = await this.any();
    if (report.kind !== kind) throw new Error(`Expected ${kind}, but got ${JSON.stringify(report)}.`);
    return report as OfKind<K>;
  }

  /** Commits all reports up to this one; each commit gets the next ms, from 2001. */
  ack({ taskId, fence, n }: Numbered): number {
    const at = this.#nextAt();
    this.send({ kind: 'ack', taskId, fence, n, at });
    return at;
  }

  /** Reads the next report, which must be of this kind, and acknowledges it. */
  async commit<K extends CopyReport['kind']>(kind: K): Promise<Extract<Numbered, { kind: K }>> {
    const report = await this.next(kind);
    this.ack(report as Numbered);
    return report as Extract<Numbered, { kind: K }>;
  }

  waited({ taskId, fence, n }: Numbered, answer: 'waiting' | 'already'): void {
    this.send({ kind: 'waited', taskId, fence, n, at: this.#nextAt(), answer });
  }

  resolve(fence: number, ...resolutions: Told[]): void {
    this.send({ kind: 'resolve', taskId: 'task_1', fence, at: this.#nextAt(), resolutions });
  }

  adopt(fence: number, ...resolutions: Told[]): void {
    this.send({ kind: 'adopt', taskId: 'task_1', fence, at: this.#nextAt(), resolutions });
  }

  drop(fence: number, reason: 'lost' | 'cancelled' | 'timeout' = 'lost'): void {
    this.send({ kind: 'drop', taskId: 'task_1', fence, reason });
  }

  /** Lets the worker do all that it can do without hearing anything more. */
  async settle(): Promise<void> {
    for (let round = 0; round < 20; round++) {
      const id = ++this.#lastPing;
      this.send({ kind: 'ping', id });
      await this.#until(() => this.#pongs.has(id));
    }
  }

  close(): void {
    this.#port.close();
  }

  #nextAt(): number {
    return 2000 + ++this.#clock;
  }

  async #until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}

/** The answer of a person to the item `a`. */
export function answered(key: string, value = 'yes'): Told {
  return { key, outcome: { status: 'answered', answers: { a: value }, resolvedBy: 'local' } };
}

export function slept(key: string): Told {
  return { key, outcome: { status: 'slept' } };
}

/** A question with the one item `a`. */
export const QUESTION = { items: [{ id: 'a', prompt: 'Well?' }] };
