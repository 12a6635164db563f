import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Agent } from '../../src/worker/define-agent.ts';
import { HeldCopies } from '../../src/worker/held-copies.ts';
import type { Pool } from '../../src/worker/pool.ts';
import type { AgentSummary, Command, Report } from '../../src/worker/protocol.ts';
import { unpackReports } from '../../src/worker/report-message.ts';
import { serve } from '../../src/worker/serve.ts';

const SLOTS = 8;

/**
 * What a worker's thread runs, without the thread, over a real channel. Nothing passes by itself: commands wait until they
 * are passed on, and reports until they are heard.
 */
export class InProcessWorker {
  readonly index: number;
  readonly copies = new HeldCopies();
  /** On their way to the worker, in order. */
  readonly commands: Command[] = [];
  /** On their way from it, in the batches in which they were sent. */
  readonly batches: Report[][] = [];
  readonly agents: AgentSummary[];
  isAlive = true;
  readonly #mainPort: MessagePort;
  readonly #workerPort: MessagePort;
  #posted = 0;
  #arrived = 0;

  /** @param index no two workers of a process have the same */
  constructor(index: number, agents: readonly Agent[]) {
    this.index = index;
    const { port1, port2 } = new MessageChannel();
    this.#mainPort = port1;
    this.#workerPort = port2;
    port2.on('message', () => {
      this.#arrived += 1;
    });
    serve(port2, new Map(agents.map((agent) => [agent.name, agent])));
    const [ready] = this.#read();
    if (ready?.kind !== 'ready') throw new Error('A worker says first that it is ready.');
    this.agents = ready.agents;
  }

  get freeSlots(): number {
    return this.isAlive ? Math.max(0, SLOTS - this.copies.occupied(0)) : 0;
  }

  /** Whether something that was passed on has not arrived yet. */
  get isBusy(): boolean {
    return this.isAlive && this.#arrived < this.#posted;
  }

  enqueue(command: Command): void {
    if (command.kind === 'start') this.copies.start(command);
    else this.copies.commanded(command, 0);
    this.commands.push(command);
  }

  /** Passes on the first commands, in one message. */
  pass(count: number): void {
    this.#posted += 1;
    this.#mainPort.postMessage(this.commands.splice(0, count));
  }

  /** Takes what the worker has sent by now out of the channel. */
  collect(): void {
    for (let batch = this.#read(); batch.length > 0; batch = this.#read()) {
      const ofCopies = batch.filter(({ kind }) => kind !== 'thrown' && kind !== 'pong');
      if (ofCopies.length > 0) this.batches.push(ofCopies);
    }
  }

  kill(): void {
    this.isAlive = false;
    this.commands.length = 0;
    this.#mainPort.close();
    this.#workerPort.close();
  }

  #read(): Report[] {
    const received = receiveMessageOnPort(this.#mainPort);
    return received === undefined ? [] : unpackReports(received.message);
  }
}

/** A pool of them. */
export class InProcessPool implements Pool {
  agents: readonly AgentSummary[] = [];
  readonly workers: InProcessWorker[];
  readonly #hire: (index: number) => InProcessWorker;
  #last = 0;

  /** @param hire makes a worker, at the start and when another is gone */
  constructor(size: number, hire: (index: number) => InProcessWorker) {
    this.#hire = hire;
    this.workers = Array.from({ length: size }, () => hire(++this.#last));
    this.agents = this.workers[0]?.agents ?? [];
  }

  freeSlots(): number {
    return this.workers.reduce((sum, { freeSlots }) => sum + freeSlots, 0);
  }

  isHealthy(): boolean {
    return true;
  }

  send(command: Command): void {
    if (command.kind === 'start') this.#freest().enqueue(command);
    else if ('taskId' in command) this.workers.find(({ copies }) => copies.has(command.taskId))?.enqueue(command);
  }

  async validate(): Promise<null> {
    return null;
  }

  async stop(): Promise<void> {
    for (const worker of this.workers) worker.kill();
  }

  retire(): void {
    throw new Error('No worker here holds more than it can.');
  }

  find(index: number): InProcessWorker {
    const worker = this.workers.find((each) => each.index === index);
    if (worker === undefined) throw new Error(`There is no worker ${index}.`);
    return worker;
  }

  /** Puts another worker in the place of a lost one. */
  replace(lost: InProcessWorker): void {
    this.workers[this.workers.indexOf(lost)] = this.#hire(++this.#last);
  }

  #freest(): InProcessWorker {
    return this.workers.reduce((best, worker) => (worker.freeSlots > best.freeSlots ? worker : best));
  }
}
