import { setTimeout as delay } from 'node:timers/promises';
import { type MessagePort, receiveMessageOnPort, type Worker } from 'node:worker_threads';
import { HoldfastError, type Issue } from '../model/error.ts';
import type { Lease } from '../model/fence.ts';
import type { Cut } from '../model/journal.ts';
import type { Json } from '../model/json.ts';
import type { TaskError } from '../model/task-error.ts';
import { type Deferred, defer } from './deferred.ts';
import { Heartbeat } from './heartbeat.ts';
import { HeldCopies } from './held-copies.ts';
import type { WatchedThread } from './memory-watch.ts';
import type { Place } from './placement.ts';
import type { AgentSummary, Command, Report } from './protocol.ts';
import { type ReportMessage, unpackReports } from './report-message.ts';
import { RunnerSamples, UNKNOWN } from './runner-samples.ts';
import { spawnThread } from './spawn-thread.ts';
import {
  type Death,
  ended,
  exited,
  isOutOfHeap,
  type Lost,
  lossOf,
  outOfMemory,
  suspectsOf,
  unresponsive,
} from './thread-death.ts';

/** So many copies may run in a thread at once; those that wait count nothing. */
export const SLOTS_PER_WORKER = 128;
/** Agents' modules have so long to load. */
const START_TIMEOUT_MS = 60_000;
export const VALIDATION_TIMEOUT_MS = 2000;
/** A thread that has been asked to stop is ended after this. */
const STOP_GRACE_MS = 200;
const STOP_LIMIT_MS = 2000;
const MIB = 1024 * 1024;

export interface PooledWorkerOptions {
  agentModules: string[];
  agentEnv: readonly string[];
  memoryMb: number;
  unresponsiveAfterMs: number;
  onReady(agents: AgentSummary[]): void;
  onReports(reports: Report[]): void;
  onThrown(taskId: string, agent: string, stack: string): void;
  onFailed(taskId: string, fence: number, error: TaskError, stack: string, cut: Cut | null): void;
  /** Called once, when the thread is gone for whatever reason but {@link PooledWorker.stop}. */
  onGone(gone: Gone): void;
}

export interface Gone {
  lost: Lost;
  /** What was thrown, or an error that says what happened. */
  cause: unknown;
  /** The tasks one of which did it, when it is not known which. */
  suspects: string[];
}

/** One thread as the main thread sees it: what it holds, whether it lives, and what became of it. */
export class PooledWorker implements WatchedThread, Place {
  readonly #options: PooledWorkerOptions;
  readonly #thread: Worker;
  readonly #port: MessagePort;
  readonly #exited: Promise<void>;
  readonly #copies = new HeldCopies();
  readonly #heartbeat: Heartbeat;
  readonly #samples: RunnerSamples;
  readonly #validations = new Map<number, Deferred<Issue[] | null>>();
  /** What is sent within one turn goes over in one message. */
  readonly #outbox: Command[] = [];
  readonly #startTimer: NodeJS.Timeout;
  #lastValidation = 0;
  #status: 'starting' | 'up' | 'gone' = 'starting';
  #bytes = 0;
  /** What was thrown in the thread and ends it. */
  #thrown: { cause: unknown } | null = null;

  constructor(options: PooledWorkerOptions) {
    this.#options = options;
    const { agentModules, agentEnv, memoryMb, unresponsiveAfterMs } = options;
    const { thread, port, runner } = spawnThread(agentModules, memoryMb, agentEnv);
    this.#thread = thread;
    this.#port = port;
    this.#samples = new RunnerSamples(runner);
    this.#heartbeat = new Heartbeat({
      unresponsiveAfterMs,
      ping: (id) => this.send({ kind: 'ping', id }),
      onUnresponsive: () => this.#kill(unresponsive(unresponsiveAfterMs, this.#samples.busiest)),
    });
    port.on('message', (message: ReportMessage) => this.#receive(unpackReports(message)));
    // What could not be read is lost, and with it the order of all that follows.
    port.on('messageerror', (error) => this.#kill(ended('The worker has sent what cannot be read.', error)));
    this.#thread.on('error', (cause) => {
      this.#thrown = { cause };
    });
    this.#startTimer = setTimeout(() => this.end('The worker has not started in time.'), START_TIMEOUT_MS).unref();
    this.#exited = new Promise((resolve) => {
      this.#thread.once('exit', (code) => {
        resolve();
        // What it sent before its end counts.
        for (let sent = receiveMessageOnPort(port); sent !== undefined; sent = receiveMessageOnPort(port)) {
          this.#receive(unpackReports(sent.message));
        }
        port.close();
        this.#die(this.#deathBy(code));
      });
    });
  }

  get isUp(): boolean {
    return this.#status === 'up';
  }

  get answers(): number {
    return this.#heartbeat.answers;
  }

  /** False as well for a thread that does not answer: it may be in a loop that never ends. */
  get isHealthy(): boolean {
    return this.isUp && this.#heartbeat.isHealthy;
  }

  /** Whether it keeps others waiting, as one does that is busy. */
  get isSilent(): boolean {
    return this.#heartbeat.isSilent;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Below 0 where more of its copies have been claimed again than it has slots. */
  get freeSlots(): number {
    return this.isHealthy ? SLOTS_PER_WORKER - this.#copies.occupied(performance.now()) : 0;
  }

  get isEmpty(): boolean {
    return this.#copies.isEmpty;
  }

  /** The unfinished copies in it. */
  get copies(): Lease[] {
    return this.#copies.unfinished();
  }

  holds(taskId: string): boolean {
    return this.#copies.has(taskId);
  }

  send(command: Command): void {
    if (command.kind !== 'start') this.#copies.commanded(command, performance.now());
    const sent = command.kind === 'start' ? { ...command, index: this.#copies.start(command) } : command;
    if (this.#outbox.length === 0) queueMicrotask(() => this.#port.postMessage(this.#outbox.splice(0)));
    this.#outbox.push(sent);
  }

  async validate(agent: string, input: Json): Promise<Issue[] | null> {
    const id = ++this.#lastValidation;
    const validation = defer<Issue[] | null>();
    const timer = setTimeout(() => validation.reject(notValidated()), VALIDATION_TIMEOUT_MS);
    this.#validations.set(id, validation);
    this.send({ kind: 'validate', id, agent, input });
    try {
      return await validation.promise;
    } finally {
      clearTimeout(timer);
      this.#validations.delete(id);
    }
  }

  /**
   * Looks what it does, a few times a second.
   *
   * @param grownBytes how much memory it may have taken since it answered last
   * @param isAlone whether there is no other thread that might have taken it
   */
  look(grownBytes: number, isAlone: boolean): void {
    if (!this.isUp) return;
    this.#heartbeat.look();
    if (this.#heartbeat.isAsked) this.#samples.look();
    const bound = this.#options.memoryMb * MIB;
    if (grownBytes > bound / 8) this.#heartbeat.ask();
    if (!this.#heartbeat.isSilent || this.#bytes + grownBytes <= bound) return;
    const runner = isAlone && grownBytes > bound / 2 ? this.#samples.busiest : UNKNOWN;
    this.#kill(outOfMemory(runner, new Error('The worker has used up its memory, and does not answer.')));
  }

  /** Ends the thread, with all that is in it, which is not what any of its copies did. */
  end(why: string): void {
    this.#kill(ended(why));
  }

  /** Ends the thread, gently at first. */
  async stop(): Promise<void> {
    this.#leave();
    this.send({ kind: 'stop' });
    const timer = setTimeout(() => this.#thread.terminate(), STOP_GRACE_MS);
    // A synchronous call into the system cannot be interrupted: nobody waits for it.
    await Promise.race([this.#exited, delay(STOP_LIMIT_MS, undefined, { ref: false })]);
    clearTimeout(timer);
  }

  #receive(reports: Report[]): void {
    if (this.#status === 'gone') return;
    const ofCopies = reports.filter((report) => !this.#take(report));
    if (ofCopies.length > 0) this.#options.onReports(ofCopies);
  }

  /** Takes what is for the pool itself; false for what copies report. */
  #take(report: Report): boolean {
    switch (report.kind) {
      case 'ready':
        this.#status = 'up';
        clearTimeout(this.#startTimer);
        this.#heartbeat.start();
        this.#options.onReady(report.agents);
        return true;
      case 'pong':
        this.#heartbeat.answer(report.id);
        this.#samples.forget();
        this.#bytes = report.bytes;
        if (report.isFull) this.#kill(outOfMemory(UNKNOWN, new Error('The worker has used up its memory.')));
        return true;
      case 'thrown':
        this.#options.onThrown(report.taskId, report.agent, report.stack);
        return true;
      case 'fault':
        this.#options.onFailed(report.taskId, report.fence, report.error, report.stack, report.cut);
        return true;
      case 'validated':
        this.#validations.get(report.id)?.resolve(report.issues);
        return true;
      default:
        this.#copies.reported(report);
        return false;
    }
  }

  #deathBy(exitCode: number): Death {
    const death = exited(exitCode, this.#thrown, this.#samples.latest);
    const { cause } = death;
    if (this.#status === 'starting') return ended('The worker has not come up.', cause);
    if (!isOutOfHeap(cause)) return death;
    // Where others had filled half of it, the last one to ask for more may be anybody.
    const wasRoomy = this.#bytes < (this.#options.memoryMb * MIB) / 2;
    return outOfMemory(wasRoomy ? this.#samples.busiest : UNKNOWN, cause);
  }

  /** Waits for nothing: a thread in a synchronous call into the system goes when that returns. */
  #kill(death: Death): void {
    this.#die(death);
    void this.#thread.terminate();
  }

  #die(death: Death): void {
    if (this.#status === 'gone') return;
    this.#leave();
    const lost = lossOf(this.#copies, death);
    const released = this.#copies.leaving().map((lease): Report => ({ kind: 'released', ...lease }));
    if (released.length > 0) this.#options.onReports(released);
    this.#options.onGone({ lost, cause: death.cause, suspects: suspectsOf(this.#copies, death) });
  }

  #leave(): void {
    this.#status = 'gone';
    clearTimeout(this.#startTimer);
    this.#heartbeat.stop();
    for (const { reject } of this.#validations.values()) reject(notValidated());
  }
}

function notValidated(): HoldfastError {
  return new HoldfastError('overloaded', 'No worker could check the input in time.');
}
