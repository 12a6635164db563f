import { failpoint } from '../failpoint.ts';
import type { NewEvent } from '../model/event.ts';
import type { Cut } from '../model/journal.ts';
import { type TaskError, taskError } from '../model/task-error.ts';
import type { CopyOptions } from './copy-options.ts';
import type { Runner } from './culprit.ts';
import type { Deferred } from './deferred.ts';
import { type Asked, Deliveries, type Entry } from './deliveries.ts';
import { DROP_MESSAGES } from './drop-message.ts';
import { JournalRoom, ROWS_LIMIT } from './journal-room.ts';
import type { ReportHooks } from './numbered-reports.ts';
import { FLOOD_LIMIT, Outgoing } from './outgoing.ts';
import type { Command, CopyReport, DropReason } from './protocol.ts';
import { Release } from './release.ts';
import { Standstill } from './standstill.ts';
import { noHeadway, otherKind } from './stuck.ts';
import { Turns } from './turns.ts';

/** A command to a copy that has been started. */
export type CopyCommand = Exclude<Extract<Command, { taskId: string }>, { kind: 'start' }>;
export type Ending = Extract<CopyReport, { kind: 'end' }>['ending'];

/**
 * One copy of a task in a thread: what its code reports goes out in the order of the calls, what the store says of it
 * is delivered in the order of the commits. In memory it may wait, be claimed again, or be dropped at any time.
 */
export class Copy implements Runner {
  readonly taskId: string;
  readonly index: number;
  readonly release = new Release();
  readonly room: JournalRoom;
  readonly #deliveries: Deliveries;
  readonly #outgoing: Outgoing;
  readonly #turns: Turns;
  /** While the copy is replayed. */
  readonly #standstill: Standstill | null = null;
  readonly #options: CopyOptions;
  readonly #controller = new AbortController();
  readonly #steps = new Set<AbortController>();
  readonly #uses = new Map<string, number>();
  /** How the code has ended while it was replayed. */
  #ending: Ending | null = null;
  #isOpen = true;

  constructor(start: Extract<Command, { kind: 'start' }>, options: CopyOptions) {
    this.taskId = start.taskId;
    this.room = new JournalRoom(start.rows);
    this.index = start.index ?? 0;
    this.#options = options;
    this.#deliveries = new Deliveries(start);
    this.#outgoing = new Outgoing(start, options.outbox, (count) => this.#deliveries.emits.acknowledge(count));
    this.#turns = new Turns(
      () => this.#deliverNext(),
      () => this.#waitIfAtRest(),
    );
    if (this.#deliveries.isReplayed(false)) return;
    this.#outgoing.replay();
    this.#standstill = new Standstill(
      options.stuckAfterMs,
      () => !this.#outgoing.isAcknowledged,
      () =>
        this.#giveUp('nondeterministic', noHeadway(this.#deliveries, this.#ending !== null, this.#outgoing.firstHeld)),
    );
  }

  get fence(): number {
    return this.#outgoing.fence;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** False once the agent's code has ended or the copy was dropped: then its promises never settle. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Epoch ms of the last delivery of a key. */
  get now(): number {
    return this.#deliveries.now;
  }

  /** The key of the next use of a name: `charge`, then `charge#2`. */
  keyFor(name: string): string {
    const use = (this.#uses.get(name) ?? 0) + 1;
    this.#uses.set(name, use);
    return use === 1 ? name : `${name}#${use}`;
  }

  /** The code asks for something under a key. What it comes to settles the entry; reporting it is up to the caller. */
  ask(key: string, entry: Entry): Asked {
    const asked = this.#deliveries.ask(key, entry);
    if (asked.row === null && !this.room.takeRow()) this.#giveUp('limit_exceeded', ROWS_LIMIT);
    if (asked.row !== null && asked.row.kind !== entry.kind)
      this.#giveUp('nondeterministic', otherKind(asked.row, entry.kind));
    this.#moved();
    return asked;
  }

  /** Remembers whose failure an error is that is about to be delivered. */
  blame(error: object, key: string): void {
    this.#deliveries.failures.blame(error, key);
  }

  /** Whether it is known what came of a key, and the code was not told yet. */
  isDue(key: string): boolean {
    return this.#deliveries.resolutions.isDue(key);
  }

  /** Emits an event from outside the steps, unless the store has it already. */
  emit(event: NewEvent, result: Deferred<void>): void {
    const number = this.#deliveries.emits.call(result);
    this.#moved();
    const { known } = this.#deliveries;
    if (number <= known.emits || !this.#mayReport) return;
    if (this.#outgoing.isReplaying && number <= known.emitsDone) this.#outgoing.appendInReplay(event);
    else this.#outgoing.append(event);
    this.#stopFlood();
  }

  /** Appends an event of a step's. */
  append(event: NewEvent, onAcknowledged: () => void): void {
    if (!this.#mayReport) return;
    this.#outgoing.append(event, onAcknowledged);
    this.#stopFlood();
  }

  /** Reports in the order of the calls. */
  report(report: Exclude<CopyReport, { kind: 'append' | 'wait' | 'end' }>, hooks?: ReportHooks): void {
    if (this.#mayReport) this.#outgoing.report(report, hooks);
  }

  /** Reports even while the copy is replayed what the replay cannot do without. */
  reportInReplay(report: Extract<CopyReport, { kind: 'spawn' }>): void {
    if (this.#mayReport) this.#outgoing.reportInReplay(report);
  }

  /** The code has taken a promise into its hands that it was not seen to wait for before. */
  awaits(): void {
    if (this.#isOpen) this.#turns.schedule();
    else this.release.waits();
  }

  /** Counts a step as running until {@link finishStep}; an end of the copy aborts it. */
  beginStep(controller: AbortController): void {
    this.#steps.add(controller);
  }

  finishStep(controller: AbortController): void {
    this.#steps.delete(controller);
  }

  /** The agent's code has returned. Reported after everything that it called before. */
  end(ending: Ending): void {
    this.release.settled();
    if (!this.#isOpen) return;
    if (this.#outgoing.isReplaying) {
      this.#ending = ending;
      this.#finishReplay();
    } else this.#finish(ending);
  }

  /** The agent's code has thrown, or cannot be run. Reported at once, even while it is replayed. */
  fail(error: TaskError, cut: Cut | null = null): void {
    this.#abandonReplay();
    this.end({ status: 'failed', error, cut });
  }

  /**
   * Where the journal is taken back to when the code has thrown this; null to keep it whole, also where the code has not
   * come again to all that it had called for. What it was not given yet need not come: it had thrown before that the first time too.
   */
  cutBefore(thrown: unknown): Cut | null {
    const isBehind = this.#outgoing.isReplaying && !this.#deliveries.isReplayed(true);
    return isBehind ? null : this.#deliveries.failures.cutBefore(thrown);
  }

  /** Makes the copy silent for ever: nothing of it is sent, nothing delivered, what runs of it is aborted. */
  drop(reason: DropReason): void {
    this.#outgoing.forget();
    this.#close(DROP_MESSAGES[reason]);
    this.#controller.abort(new DOMException(DROP_MESSAGES[reason], 'AbortError'));
    this.#options.onGone();
  }

  handle(command: CopyCommand): void {
    switch (command.kind) {
      case 'ack':
        this.#outgoing.acknowledge(command.n);
        break;
      case 'waited':
        this.#outgoing.waited(command.n, command.answer);
        break;
      case 'resolve':
        this.#deliveries.resolutions.learn(command.resolutions);
        break;
      case 'adopt':
        this.#adopt(command);
        break;
      case 'drop':
        this.drop(command.reason);
        this.release.begin(this.#options.onReleased);
        return;
    }
    if (this.#isOpen) this.#turns.schedule(this.#deliveries.due);
    else if (this.#outgoing.isDone) this.#options.onGone();
  }

  /** Takes a claim, but only the very next one: after any other, somebody else has run the task meanwhile. */
  #adopt({ fence, resolutions }: Extract<Command, { kind: 'adopt' }>): void {
    if (fence !== this.fence + 1) {
      this.drop('lost');
      return;
    }
    this.#deliveries.resolutions.learn(resolutions);
    failpoint?.('adopted-not-gone-on');
    this.#outgoing.adopt(fence);
  }

  #deliverNext(): boolean {
    const mayDeliver = this.#isOpen && (this.#outgoing.isLive || this.#outgoing.isReplaying);
    if (!mayDeliver || !this.#deliveries.deliverNext()) return false;
    this.#moved();
    return true;
  }

  /** The code has called, or was given something: looks whether that was the last of what had to come again. */
  #moved(): void {
    if (!this.#outgoing.isReplaying) return;
    this.#standstill?.moved();
    this.#finishReplay();
    this.#turns.schedule(this.#deliveries.due);
  }

  #finishReplay(): void {
    if (!this.#deliveries.isReplayed(this.#ending !== null)) return;
    failpoint?.('replayed-not-live');
    this.#standstill?.stop();
    this.#outgoing.goLive();
    if (this.#ending !== null) this.#finish(this.#ending);
  }

  #abandonReplay(): void {
    this.#standstill?.stop();
    if (this.#outgoing.isReplaying) this.#outgoing.abandonReplay();
  }

  /** Code that does not await what it emits is stopped before it fills the memory with it. */
  #stopFlood(): void {
    if (!this.#outgoing.isFlooded) return;
    this.#outgoing.discard();
    this.#giveUp('limit_exceeded', FLOOD_LIMIT);
  }

  /** Fails the task while its code runs: that is not the one its journal was written by, or wants more than it may. */
  #giveUp(code: 'nondeterministic' | 'limit_exceeded', why: string): void {
    if (!this.#isOpen) return;
    this.#abandonReplay();
    this.#finish({ status: 'failed', error: taskError(code, why), cut: null });
    this.#controller.abort(new DOMException('The task has ended.', 'AbortError'));
  }

  /** False while the code has ended but was not replayed to its end: what it calls then is never heard of. */
  get #mayReport(): boolean {
    return this.#isOpen && this.#ending === null;
  }

  /** At rest, when nothing is under way or left to be done here, the copy waits for those who can do something. */
  #waitIfAtRest(): void {
    if (!this.#isOpen || !this.#outgoing.isLive || this.#steps.size > 0) return;
    if (!this.#outgoing.isAcknowledged || !this.#deliveries.isUpToDate) return;
    const keys = this.#deliveries.externalKeys();
    if (keys.length === 0) return;
    failpoint?.('rest-not-reported');
    this.#outgoing.wait(this.#deliveries.resolutions.lastDelivered, keys);
  }

  #finish(ending: Ending): void {
    failpoint?.('end-not-reported');
    this.#outgoing.report({ kind: 'end', ending });
    this.#close('The task has ended.');
  }

  #close(message: string): void {
    this.#isOpen = false;
    this.#standstill?.stop();
    if (this.#deliveries.areAwaited) this.release.waits();
    this.#deliveries.close();
    const reason = new DOMException(message, 'AbortError');
    for (const controller of this.#steps) controller.abort(reason);
    this.#steps.clear();
  }
}
