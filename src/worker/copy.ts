import type { NewEvent } from '../model/event.ts';
import type { ResolvedOutcome } from '../model/verb.ts';
import { Deliveries } from './deliveries.ts';
import { NumberedReports, type ReportHooks } from './numbered-reports.ts';
import type { Outbox } from './outbox.ts';
import type { Command, CopyReport, Told } from './protocol.ts';

/** A command to a copy that has been started. */
export type CopyCommand = Exclude<Extract<Command, { taskId: string }>, { kind: 'start' }>;

export interface CopyOptions {
  taskId: string;
  fence: number;
  originAt: number;
  outbox: Outbox;
  /** Called once nothing can be expected of the copy any more. */
  onGone(): void;
}

const DROP_MESSAGES = {
  lost: 'The task was lost to this worker.',
  cancelled: 'The task was cancelled.',
  timeout: 'The task has used up its time.',
} as const;

/**
 * One copy of a task in a thread: what its code reports goes out in the order of the calls, what the store says of it
 * is delivered in the order of the commits. In memory it may wait, be claimed again, or be dropped at any time.
 *
 * `live` → (at rest) `asking`, the `wait` is under way → `waiting` → (a call of the agent's) `waking` → `live` again with
 * the next claim. In all but the first nothing is delivered and what is reported is held.
 */
export class Copy {
  readonly #reports: NumberedReports;
  readonly #deliveries: Deliveries;
  readonly #onGone: () => void;
  readonly #controller = new AbortController();
  readonly #bodies = new Set<AbortController>();
  readonly #pending = new Map<string, (outcome: ResolvedOutcome) => void>();
  readonly #uses = new Map<string, number>();
  #held: { report: CopyReport; hooks: ReportHooks }[] = [];
  #phase: 'live' | 'asking' | 'waiting' | 'waking' = 'live';
  #isOpen = true;

  readonly taskId: string;

  constructor({ taskId, fence, originAt, outbox, onGone }: CopyOptions) {
    this.taskId = taskId;
    this.#reports = new NumberedReports(taskId, fence, outbox);
    this.#deliveries = new Deliveries(
      originAt,
      () => this.#phase === 'live',
      () => this.#waitIfAtRest(),
    );
    this.#onGone = onGone;
  }

  get fence(): number {
    return this.#reports.fence;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** False once the agent's code has ended or the copy was dropped: then its promises never settle. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Epoch ms of the last delivery. */
  get now(): number {
    return this.#deliveries.now;
  }

  /** The key of the next use of a name: `charge`, then `charge#2`. */
  keyFor(name: string): string {
    const use = (this.#uses.get(name) ?? 0) + 1;
    this.#uses.set(name, use);
    return use === 1 ? name : `${name}#${use}`;
  }

  /** Reports in the order of the calls, after what is held where the copy waits. */
  report(report: CopyReport, hooks: ReportHooks = {}): void {
    if (!this.#isOpen) return;
    if (this.#phase === 'live') this.#reports.post(report, hooks);
    else this.#held.push({ report, hooks });
    if (this.#phase === 'waiting') this.#wake();
  }

  append(event: NewEvent, onAcknowledged: (at: number) => void): void {
    this.report({ kind: 'append', events: [event] }, { onAcknowledged });
  }

  /** Hands something to the agent's code when its turn has come. */
  deliver(at: number, settle: () => void): void {
    if (this.#isOpen) this.#deliveries.add(at, settle);
  }

  /** Waits for what comes of a key from outside: a question's or a timer's end. */
  expect(key: string, settle: (outcome: ResolvedOutcome) => void): void {
    this.#pending.set(key, settle);
  }

  /** Whether the outcome of a key that was asked for is still unknown here. */
  isPending(key: string): boolean {
    return this.#pending.has(key);
  }

  /** Counts a step's function as running until {@link finishBody}; an end of the copy aborts it. */
  beginBody(controller: AbortController): void {
    this.#bodies.add(controller);
  }

  finishBody(controller: AbortController): void {
    this.#bodies.delete(controller);
  }

  /** Reports how the agent's code has ended, after everything that it called before. */
  end(ending: Extract<CopyReport, { kind: 'end' }>['ending']): void {
    this.report({ kind: 'end', ending });
    this.#close('The task has ended.');
  }

  /** Makes the copy silent for ever: nothing of it is sent, nothing delivered, what runs of it is aborted. */
  drop(reason: Extract<Command, { kind: 'drop' }>['reason']): void {
    this.#held = [];
    this.#reports.forget();
    this.#close(DROP_MESSAGES[reason]);
    this.#controller.abort(new DOMException(DROP_MESSAGES[reason], 'AbortError'));
    this.#onGone();
  }

  handle(command: CopyCommand): void {
    switch (command.kind) {
      case 'ack':
        this.#reports.acknowledge(command.n, command.at);
        this.#settleDown();
        break;
      case 'waited':
        this.#reports.acknowledge(command.n, command.at);
        this.#phase = 'waiting';
        if (command.answer === 'already') this.#resume();
        else if (this.#held.length > 0) this.#wake();
        break;
      case 'resolve':
        this.#learn(command.at, command.resolutions);
        break;
      case 'adopt':
        this.#adopt(command);
        break;
      case 'drop':
        this.drop(command.reason);
    }
  }

  /** Takes a claim, but only the very next one: after any other, somebody else has run the task meanwhile. */
  #adopt({ fence, at, resolutions }: Extract<Command, { kind: 'adopt' }>): void {
    if (fence !== this.fence + 1) {
      this.drop('lost');
      return;
    }
    this.#reports.fence = fence;
    this.#learn(at, resolutions);
    this.#resume();
  }

  #learn(at: number, resolutions: readonly Told[]): void {
    for (const { key, outcome } of resolutions) {
      const settle = this.#pending.get(key);
      if (settle === undefined) continue;
      this.#pending.delete(key);
      this.deliver(at, () => settle(outcome));
    }
  }

  #resume(): void {
    this.#phase = 'live';
    const held = this.#held;
    this.#held = [];
    for (const { report, hooks } of held) this.#reports.post(report, hooks);
    this.#settleDown();
  }

  /** Looks, once the code has done what it can, whether the copy is at rest or has come to its end. */
  #settleDown(): void {
    if (this.#isOpen) this.#deliveries.schedule();
    else if (this.#reports.areDone && this.#held.length === 0) this.#onGone();
  }

  #waitIfAtRest(): void {
    if (!this.#reports.areDone || this.#bodies.size > 0 || this.#pending.size === 0) return;
    this.#reports.post({ kind: 'wait', keys: [...this.#pending.keys()] }, {});
    this.#phase = 'asking';
  }

  #wake(): void {
    this.#phase = 'waking';
    this.#reports.wake();
  }

  #close(message: string): void {
    this.#isOpen = false;
    this.#deliveries.clear();
    this.#pending.clear();
    const reason = new DOMException(message, 'AbortError');
    for (const controller of this.#bodies) controller.abort(reason);
    this.#bodies.clear();
  }
}
