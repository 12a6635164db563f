import type { NewEvent } from '../model/event.ts';
import { NumberedReports, type ReportHooks } from './numbered-reports.ts';
import type { Outbox } from './outbox.ts';
import type { Command, CopyReport } from './protocol.ts';
import { reportName } from './report-name.ts';

type Start = Extract<Command, { kind: 'start' }>;
type Report = Exclude<CopyReport, { kind: 'append' | 'wait' }>;

/**
 * What a copy reports, in the order of its code's calls, and whether it may: at once, or held until it may again.
 *
 * `replaying`, until all that the journal holds has come again → `live` → (at rest) `asking`, the `wait` is under way →
 * `waiting` → (a call of the code's) `waking` → `live` again with the next claim. In all but `live` what is reported is
 * held; in the last three nothing is delivered either.
 */
export class Outgoing {
  readonly #reports: NumberedReports;
  #phase: 'replaying' | 'live' | 'asking' | 'waiting' | 'waking' = 'live';
  #held: { name: string; send(): void }[] = [];

  constructor(start: Start, outbox: Outbox, onEmitsAcknowledged: (count: number) => void) {
    this.#reports = new NumberedReports(start, outbox, onEmitsAcknowledged);
  }

  get fence(): number {
    return this.#reports.fence;
  }

  get isReplaying(): boolean {
    return this.#phase === 'replaying';
  }

  get isLive(): boolean {
    return this.#phase === 'live';
  }

  /** True when nothing is on its way to the store. */
  get isAcknowledged(): boolean {
    return this.#reports.areDone;
  }

  /** True when moreover nothing is held. */
  get isDone(): boolean {
    return this.#reports.areDone && this.#held.length === 0;
  }

  /** What is held longest, in an author's words; null when nothing is. */
  get firstHeld(): string | null {
    return this.#held[0]?.name ?? null;
  }

  /** Holds everything until {@link goLive}: the copy is replayed. */
  replay(): void {
    this.#phase = 'replaying';
  }

  report(report: Report, hooks: ReportHooks = {}): void {
    if (this.isLive) this.#reports.post(report, hooks);
    else this.#hold(reportName(report), () => this.#reports.post(report, hooks));
  }

  append(event: NewEvent, onAcknowledged?: () => void): void {
    if (this.isLive) this.#reports.append(event, onAcknowledged);
    else this.#hold(`the event "${event.type}"`, () => this.#reports.append(event, onAcknowledged));
  }

  /** Reports what a replay needs to go on. */
  reportInReplay(report: Report): void {
    this.#reports.post(report);
  }

  appendInReplay(event: NewEvent): void {
    this.#reports.append(event);
  }

  /** Asks whether the copy may wait for these keys, having been told all up to `ord`. */
  wait(ord: number, keys: string[]): void {
    this.#reports.post({ kind: 'wait', ord, keys });
    this.#phase = 'asking';
  }

  waited(n: number, answer: 'waiting' | 'already'): void {
    this.acknowledge(n);
    this.#phase = 'waiting';
    if (answer === 'already') this.goLive();
    else if (this.#held.length > 0) this.#wake();
  }

  adopt(fence: number): void {
    this.#reports.fence = fence;
    this.goLive();
  }

  acknowledge(n: number): void {
    this.#reports.acknowledge(n);
  }

  /** Sends what was held, and from now on everything at once. */
  goLive(): void {
    this.#phase = 'live';
    for (const { send } of this.#held.splice(0)) send();
  }

  /** Goes on as if nothing had been called while the copy was replayed. */
  abandonReplay(): void {
    this.#held = [];
    this.goLive();
  }

  /** Sends nothing more of what there is, and expects no answer to what was sent. */
  forget(): void {
    this.#held = [];
    this.#reports.forget();
  }

  #hold(name: string, send: () => void): void {
    this.#held.push({ name, send });
    if (this.#phase === 'waiting') this.#wake();
  }

  #wake(): void {
    this.#phase = 'waking';
    this.#reports.wake();
  }
}
