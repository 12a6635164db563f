import { setTimeout as delay } from 'node:timers/promises';
import { type MessagePort, receiveMessageOnPort, type Worker } from 'node:worker_threads';
import { HoldfastError, type Issue } from '../model/error.ts';
import type { Json } from '../model/json.ts';
import { type TaskError, taskError } from '../model/task-error.ts';
import { type Deferred, defer } from './deferred.ts';
import { HeldCopies } from './held-copies.ts';
import type { AgentSummary, Command, Report } from './protocol.ts';
import { type ReportMessage, unpackReports } from './report-message.ts';
import { spawnThread } from './spawn-thread.ts';

/** So many copies may run in a thread at once; those that wait count nothing. */
export const SLOTS_PER_WORKER = 128;
const HEARTBEAT_MS = 1000;
/** Pings that may be under way in a thread that is merely busy. */
const MAX_UNANSWERED_WHEN_HEALTHY = 2;
/** Agents' modules have so long to load. */
const START_TIMEOUT_MS = 60_000;
export const VALIDATION_TIMEOUT_MS = 2000;
/** A thread that has been asked to stop is ended after this. */
const STOP_GRACE_MS = 200;
const STOP_LIMIT_MS = 2000;

export interface PooledWorkerOptions {
  agentModules: string[];
  heapMb: number;
  unresponsiveAfterMs: number;
  onReady(agents: AgentSummary[]): void;
  onReports(reports: Report[]): void;
  onThrown(taskId: string, agent: string, stack: string): void;
  /**
   * Called once, when the thread is gone for whatever reason but {@link PooledWorker.stop}.
   *
   * @param error what clients may know: no word of it comes from an agent's code
   * @param cause what was thrown, or an error that says what happened
   */
  onGone(copies: { taskId: string; fence: number }[], error: TaskError, cause: unknown): void;
}

/** One thread as the main thread sees it: what it holds, whether it lives, and what became of it. */
export class PooledWorker {
  readonly #options: PooledWorkerOptions;
  readonly #thread: Worker;
  readonly #port: MessagePort;
  readonly #exited: Promise<void>;
  readonly #copies = new HeldCopies();
  readonly #validations = new Map<number, Deferred<Issue[] | null>>();
  /** What is sent within one turn goes over in one message. */
  readonly #outbox: Command[] = [];
  #lastId = 0;
  #status: 'starting' | 'up' | 'gone' = 'starting';
  /** What was thrown in the thread and ends it. */
  #thrown: { cause: unknown } | null = null;
  /** Until it is up, a limit for that; from then on its heartbeat. */
  #timer: NodeJS.Timeout;
  #unanswered = 0;

  constructor(options: PooledWorkerOptions) {
    this.#options = options;
    const { thread, port } = spawnThread({ agentModules: options.agentModules }, options.heapMb);
    this.#thread = thread;
    this.#port = port;
    port.on('message', (message: ReportMessage) => this.#receive(unpackReports(message)));
    // What could not be read is lost, and with it the order of all that follows.
    port.on('messageerror', (error) => {
      this.#die(taskError('worker_exited', 'The worker has sent what cannot be read.'), error);
      void thread.terminate();
    });
    this.#thread.on('error', (cause) => {
      this.#thrown = { cause };
    });
    this.#timer = setTimeout(() => this.#kill('The worker has not started in time.'), START_TIMEOUT_MS).unref();
    this.#exited = new Promise((resolve) => {
      this.#thread.once('exit', (code) => {
        resolve();
        // What it sent before its end counts.
        for (let sent = receiveMessageOnPort(port); sent !== undefined; sent = receiveMessageOnPort(port)) {
          this.#receive(unpackReports(sent.message));
        }
        port.close();
        const { cause } = this.#thrown ?? { cause: new Error(`The worker exited with code ${code}.`) };
        this.#die(deathOf(cause), cause);
      });
    });
  }

  get isUp(): boolean {
    return this.#status === 'up';
  }

  get answers(): boolean {
    return this.isUp && this.#unanswered <= MAX_UNANSWERED_WHEN_HEALTHY;
  }

  get freeSlots(): number {
    return this.isUp ? Math.max(0, SLOTS_PER_WORKER - this.#copies.runningCount) : 0;
  }

  holds(taskId: string): boolean {
    return this.#copies.has(taskId);
  }

  send(command: Command): void {
    this.#copies.commanded(command);
    if (this.#outbox.length === 0) queueMicrotask(() => this.#port.postMessage(this.#outbox.splice(0)));
    this.#outbox.push(command);
  }

  async validate(agent: string, input: Json): Promise<Issue[] | null> {
    const id = ++this.#lastId;
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
        clearTimeout(this.#timer);
        this.#timer = this.#startHeartbeat();
        this.#options.onReady(report.agents);
        return true;
      case 'pong':
        this.#unanswered = 0;
        return true;
      case 'thrown':
        this.#options.onThrown(report.taskId, report.agent, report.stack);
        return true;
      case 'validated':
        this.#validations.get(report.id)?.resolve(report.issues);
        return true;
      default:
        this.#copies.reported(report);
        return false;
    }
  }

  /** Counts beats, not time: a machine that was asleep, or a busy main thread, is no fault of the worker's. */
  #startHeartbeat(): NodeJS.Timeout {
    const { unresponsiveAfterMs } = this.#options;
    const everyMs = Math.min(HEARTBEAT_MS, unresponsiveAfterMs / 2);
    return setInterval(() => {
      if (this.#unanswered * everyMs >= unresponsiveAfterMs) {
        return this.#kill(`The worker has not answered for ${unresponsiveAfterMs} ms.`);
      }
      this.#unanswered++;
      this.send({ kind: 'ping', id: ++this.#lastId });
    }, everyMs).unref();
  }

  #kill(why: string): void {
    this.#die(taskError('worker_unresponsive', why), new Error(why));
    void this.#thread.terminate();
  }

  #die(error: TaskError, cause: unknown): void {
    if (this.#status === 'gone') return;
    this.#leave();
    this.#options.onGone(this.#copies.unfinished(), error, cause);
  }

  #leave(): void {
    this.#status = 'gone';
    clearTimeout(this.#timer);
    for (const { reject } of this.#validations.values()) reject(notValidated());
  }
}

/** The tasks that a thread takes with it may be anybody's: they are not told whose code threw what. */
function deathOf(cause: unknown): TaskError {
  if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return taskError('out_of_memory', 'The worker has used up its memory.');
  }
  return taskError('worker_exited', 'The worker has ended.');
}

function notValidated(): HoldfastError {
  return new HoldfastError('overloaded', 'No worker could check the input in time.');
}
