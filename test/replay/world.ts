import type { VerbCall } from '../../src/model/batch.ts';
import type { Event } from '../../src/model/event.ts';
import type { Json } from '../../src/model/json.ts';
import type { TaskRecord } from '../../src/model/task.ts';
import { taskError } from '../../src/model/task-error.ts';
import type { Committed, Store } from '../../src/store/store.ts';
import type { Report } from '../../src/worker/protocol.ts';
import { type Dice, diceOf } from '../support/dice.ts';
import { newId } from '../support/store-owner.ts';
import type { TestAgent } from './agent-side.ts';
import { AgentsRuns } from './agents-runs.ts';
import { History } from './history.ts';
import { InProcessWorker } from './in-process-pool.ts';
import { type Fault, type Move, Picker } from './moves.ts';
import { Outside } from './outside.ts';
import { startProcess, type TestProcess } from './process.ts';
import { Seen } from './seen.ts';
import { type BorrowedStore, borrowStore, returnStore } from './shared-store.ts';
import { VirtualTime } from './virtual-time.ts';
import { WorldClock } from './world-clock.ts';
import type { WorldOptions } from './world-options.ts';

const MAX_MOVES = 20_000;

/**
 * Agents, workers, a process and its store, in which nothing happens by itself: each turn makes one of the moves that are
 * possible, drawn from the seed, and lets the code do all it can do. What is lost at a fault is lost for good; the store
 * alone remains.
 */
export class World {
  readonly time: VirtualTime;
  readonly history = new History();
  readonly store: Store;
  readonly seen: Seen;
  readonly owner: string;
  /** What has gone wrong that must never. */
  readonly troubles: string[] = [];
  readonly runs: AgentsRuns;
  readonly clock: WorldClock;
  agents: { readonly [name: string]: TestAgent };
  commits = 0;
  messages = 0;
  process: TestProcess;
  readonly #borrowed: BorrowedStore;
  readonly #options: WorldOptions;
  readonly #picker: Picker;
  readonly #faultDice: Dice;
  readonly #outside: Outside;
  readonly #faults: Fault[];

  constructor(options: WorldOptions) {
    this.#options = options;
    this.#picker = new Picker(diceOf(options.seed));
    this.#faultDice = diceOf(options.seed ^ 0x5bd1e995);
    this.#borrowed = borrowStore();
    this.store = this.#borrowed.store;
    this.owner = this.#borrowed.owner;
    this.seen = new Seen(this.store, this.owner);
    this.time = new VirtualTime(this.#borrowed.clock, diceOf(options.seed ^ 0x2c1b3c6d));
    this.#faults = [...(options.faults ?? [])];
    this.agents = options.agents;
    this.time.install();
    this.runs = new AgentsRuns(this, options.asksForResults ?? true);
    this.#outside = new Outside({
      seen: this.seen,
      owner: this.owner,
      person: options.person ?? (() => 'answer'),
      fresh: () => this.runs.fresh(),
    });
    this.process = this.#startProcess();
    this.clock = new WorldClock({
      time: this.time,
      seen: this.seen,
      process: () => this.process,
      onTrouble: (error) => this.troubles.push(String(error)),
    });
  }

  /** Asks for something from outside, once `when` holds. */
  request(call: VerbCall, when = () => true): void {
    this.#outside.request(call, when);
  }

  create(agent: string, input: Json = null, maxAttempts = 1): string {
    const taskId = newId('task');
    const args = { taskId, agent, input, metadata: {}, timeoutMs: 3_600_000, priority: 0, concurrencyKey: null };
    this.request({ verb: 'createTask', args: { ...args, maxAttempts, runAt: null, conversationId: null } });
    return taskId;
  }

  /** Tries a failed or cancelled task again; the history follows the chain. */
  retry(taskId: string): string {
    const newTaskId = newId('task');
    this.request({ verb: 'retryTask', args: { taskId, newTaskId } });
    return newTaskId;
  }

  /** Whether no fault has happened. */
  get isUnharmed(): boolean {
    return this.#faults.length === (this.#options.faults ?? []).length;
  }

  /** Whether nothing can happen but by the clock. */
  get isIdle(): boolean {
    return this.#moves().length === 0;
  }

  task(taskId: string): TaskRecord {
    const task = this.find(taskId);
    if (task === null) throw new Error(`${taskId} is not there.`);
    return task;
  }

  find(taskId: string): TaskRecord | null {
    return this.seen.tasks.find(({ id }) => id === taskId) ?? null;
  }

  tasks(): readonly TaskRecord[] {
    return this.seen.tasks;
  }

  eventsOf(taskId: string): Event[] {
    return this.history.events.filter((event) => event.taskId === taskId);
  }

  /** Makes moves until `isReached` holds, or nothing can happen any more. */
  async run(isReached = () => false): Promise<void> {
    for (let made = 0; ; made++) {
      if (made > MAX_MOVES) throw new Error('It has no end.');
      await this.#settle();
      if (isReached()) return;
      const moves = this.#moves();
      if (moves.length === 0) {
        if (!this.clock.leap(this.tasks())) return;
        continue;
      }
      this.clock.reset();
      const allowed = this.#options.steer?.(moves, this) ?? moves;
      const isCornered = allowed.length === 0;
      // A fault may leave nothing of what a test steers towards.
      if (isCornered && this.isUnharmed) throw new Error(`Only left: ${moves.map(({ kind }) => kind)}.`);
      await this.#make(this.#picker.pick(isCornered ? moves : allowed));
    }
  }

  async close(): Promise<void> {
    await this.#settle();
    this.process.isAlive = false;
    await this.process.pool.stop();
    this.time.forgetTimers();
    this.time.uninstall();
    await returnStore(this.#borrowed);
  }

  /** Writes what another node has decided, past this process. */
  async elsewhere(calls: readonly VerbCall[]): Promise<Committed> {
    const committed = await this.store.commit(this.owner, calls);
    await this.seen.look();
    this.history.take(calls, committed, (taskId) => this.task(taskId));
    this.#outside.look();
    return committed;
  }

  killProcess(): void {
    this.process.isAlive = false;
    for (const worker of this.process.pool.workers) this.#forget(worker);
    this.time.forgetTimers();
    this.#outside.disconnect();
    this.process = this.#startProcess();
  }

  /** What it has sent may be heard in part. */
  killWorker(index: number): void {
    const { pool, dispatcher } = this.process;
    const worker = pool.find(index);
    const count = this.#faultDice.below(worker.batches.length + 1);
    for (const batch of worker.batches.slice(0, count)) this.#hear(worker, batch);
    const lost = worker.copies.unfinished();
    this.#forget(worker);
    pool.replace(worker);
    const error = taskError('worker_exited', 'The worker exited.');
    dispatcher.onLost({ copies: lost, culprit: null, error }, error);
  }

  #startProcess(): TestProcess {
    const { workers = 1, warmMs = 10_000 } = this.#options;
    return startProcess(this.store, {
      workers,
      warmMs,
      hire: (index) => new InProcessWorker(index, this.runs.agentsOf(index)),
      onTrouble: (error) => this.troubles.push(String(error instanceof Error ? error.stack : error)),
    });
  }

  #forget(worker: InProcessWorker): void {
    worker.kill();
    this.runs.lose(worker);
  }

  async #settle(): Promise<void> {
    const { workers } = this.process.pool;
    await this.time.settle(() => workers.some(({ isBusy }) => isBusy));
    for (const worker of workers) if (worker.isAlive) worker.collect();
  }

  #moves(): Move[] {
    const { gate, pool } = this.process;
    const moves: Move[] = [];
    const [asked] = gate.queue;
    if (asked !== undefined) moves.push({ kind: 'commit', calls: asked.calls });
    for (const worker of pool.workers) {
      const [command] = worker.commands;
      if (command !== undefined) moves.push({ kind: 'pass', worker, command });
      const [batch] = worker.batches;
      if (batch !== undefined) moves.push({ kind: 'hear', worker, batch });
    }
    for (const raw of this.runs.raws) moves.push({ kind: 'raw', ...raw });
    for (const request of this.#outside.wanted) moves.push({ kind: 'outside', request });
    const next = this.clock.nextSoon();
    if (next !== null && moves.length > 0) moves.push({ kind: 'clock', at: next });
    return moves;
  }

  async #make(move: Move): Promise<void> {
    switch (move.kind) {
      case 'commit':
        return this.#commit();
      case 'pass':
        return this.#pass(move.worker);
      case 'hear':
        move.worker.batches.shift();
        return this.#hear(move.worker, move.batch);
      case 'raw':
        return move.settle();
      case 'outside':
        move.request.isUnderWay = true;
        this.process.log.commit(this.owner, [move.request.call]).catch((error) => this.troubles.push(String(error)));
        return;
      case 'clock':
        return this.clock.moveTo(move.at);
    }
  }

  #hear(worker: InProcessWorker, batch: readonly Report[]): void {
    for (const report of batch) worker.copies.reported(report);
    this.process.dispatcher.onReports(worker.index, [...batch]);
  }

  async #commit(): Promise<void> {
    const { process } = this;
    const index = this.commits++;
    const workerOf = (calls: readonly VerbCall[]) => this.#workerOf(calls);
    const [next] = process.gate.queue;
    if (next === undefined) throw new Error('There is something to commit.');
    this.#fault('before commit', index, workerOf(next.calls));
    if (!process.isAlive) return;
    process.gate.queue.shift();
    this.time.advanceTo(this.time.now + 1);
    try {
      const committed = await next.write();
      await this.seen.look();
      this.history.take(next.calls, committed, (taskId) => this.task(taskId));
      this.#outside.committed(next.calls);
      this.#outside.look();
    } catch (error) {
      this.troubles.push(`${error instanceof Error ? error.stack : error}`);
    }
    this.#fault('after commit', index, workerOf(next.calls));
    if (process.isAlive) next.tell();
  }

  async #pass(worker: InProcessWorker): Promise<void> {
    const index = this.messages++;
    this.#fault('before message', index, worker.index);
    if (!worker.isAlive) return;
    const [command] = worker.commands;
    if (command !== undefined) this.runs.commanded(command, worker);
    worker.pass(1);
    await this.#settle();
    this.#fault('after message', index, worker.index);
  }

  #workerOf(calls: readonly VerbCall[]): number {
    for (const { args } of calls) {
      const holder = 'taskId' in args && this.process.pool.workers.find(({ copies }) => copies.has(args.taskId));
      if (holder) return holder.index;
    }
    return this.process.pool.workers[0]?.index ?? 0;
  }

  #fault(when: Fault['when'], index: number, worker: number): void {
    const at = this.#faults.findIndex((fault) => fault.when === when && fault.index === index);
    if (at < 0) return;
    const [fault] = this.#faults.splice(at, 1);
    if (fault?.victim === 'process') this.killProcess();
    else this.killWorker(worker);
  }
}
