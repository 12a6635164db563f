import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Agent } from '../../src/worker/define-agent.ts';
import type { Command, CopyReport, DropReason, Report, Told } from '../../src/worker/protocol.ts';
import { type ReportMessage, unpackReports } from '../../src/worker/report-message.ts';
import { serve } from '../../src/worker/serve.ts';
import { Journal, type Outcome } from './journal.ts';

export { answered, slept } from './journal.ts';

export type Numbered = { taskId: string; fence: number; n: number } & CopyReport;
type OfKind<K extends Report['kind']> = Extract<Report, { kind: K }>;
type NumberedOf<K extends CopyReport['kind']> = Extract<Numbered, { kind: K }>;
type Start = Extract<Command, { kind: 'start' }>;

/** The main thread's side of a worker that runs in this thread, driven by hand: nothing is answered by itself. */
export class MainSide {
  readonly #journals = new Map<string, Journal>();
  readonly #port: MessagePort;
  readonly #batches: Report[][] = [];
  readonly #unread: Report[] = [];
  readonly #pongs = new Set<number>();
  #wake: () => void = () => {};
  #clock = 0;
  #lastPing = 0;
  #agent = '';
  #fence = 1;

  constructor(agents: readonly Agent[], stuckAfterMs?: number) {
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
    serve(port2, new Map(agents.map((agent) => [agent.name, agent])), stuckAfterMs);
  }

  /** What is on disk of the task that has no other name. */
  get journal(): Journal {
    return this.#journalOf('task_1');
  }

  /** Every batch that has come, pongs included. */
  get batches(): readonly (readonly Report[])[] {
    return this.#batches;
  }

  /** What has come and was not read yet. */
  get unread(): Report[] {
    return this.#unread;
  }

  /** Sends them in one batch. */
  send(...commands: Command[]): void {
    this.#port.postMessage(commands);
  }

  start(agent: string, options: Partial<Start> = {}): void {
    this.#agent = agent;
    this.#fence = options.fence ?? 1;
    const task = {
      taskId: 'task_1',
      fence: 1,
      attempt: 1,
      version: '1',
      input: {},
      seed: 'seed',
      originAt: 1000,
      conversationId: null,
    };
    this.send({ kind: 'start', agent, ...task, emits: 0, marks: [], rows: [], ...options });
  }

  /** Loses the copy, with what was sent and not read of it, and starts another from what was committed. */
  async replay(options: Partial<Start> = {}): Promise<void> {
    const { rows, emits, marks } = this.journal;
    const fence = ++this.#fence;
    this.drop(fence - 1);
    await this.settle();
    this.#unread.splice(0);
    this.start(this.#agent, { fence, emits, marks: [...marks], rows: [...rows.values()], ...options });
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

  /** Commits this report, and tells what it resolved; each resolution gets the next ms, from 2001. */
  ack(report: Numbered): void {
    const { taskId, fence, n } = report;
    this.#resolve(taskId, fence, this.#journalOf(taskId).commit(report));
    this.send({ kind: 'ack', taskId, fence, n });
  }

  /** Reads the next report, which must be of this kind, and acknowledges it. */
  async commit<K extends CopyReport['kind']>(kind: K): Promise<NumberedOf<K>> {
    const report = (await this.next(kind)) as NumberedOf<K>;
    this.ack(report);
    return report;
  }

  /** Reads and commits the start and the end of a step. @returns its end */
  async step(name: string): Promise<NumberedOf<'settleStep'>> {
    const { step } = await this.commit('startStep');
    if (step.name !== name) throw new Error(`Expected the step ${name}, but got ${step.name}.`);
    return this.commit('settleStep');
  }

  waited({ taskId, fence, n }: Numbered, answer: 'waiting' | 'already'): void {
    this.send({ kind: 'waited', taskId, fence, n, answer });
  }

  /** Resolves keys from outside. */
  resolve(fence: number, ...outcomes: Outcome[]): void {
    this.#resolve('task_1', fence, this.journal.resolve(...outcomes));
  }

  adopt(fence: number, ...outcomes: Outcome[]): void {
    this.#fence = fence;
    this.send({ kind: 'adopt', taskId: 'task_1', fence, resolutions: this.journal.resolve(...outcomes) });
  }

  drop(fence: number, reason: DropReason = 'lost'): void {
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

  #resolve(taskId: string, fence: number, resolutions: Told[]): void {
    if (resolutions.length > 0) this.send({ kind: 'resolve', taskId, fence, resolutions });
  }

  #journalOf(taskId: string): Journal {
    const journal = this.#journals.get(taskId) ?? new Journal(() => 2000 + ++this.#clock);
    this.#journals.set(taskId, journal);
    return journal;
  }

  async #until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}

/** A question with the one item `a`. */
export const QUESTION = { items: [{ id: 'a', prompt: 'Well?' }] };
