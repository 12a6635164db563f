import type { NewEvent } from '../model/event.ts';
import { Fifo } from './fifo.ts';
import { NumberedReports, type ReportHooks } from './numbered-reports.ts';
import { eventLength, type Outbox } from './outbox.ts';
import { own } from './own-globals.ts';
import { Pace } from './pace.ts';
import type { Command, CopyReport } from './protocol.ts';
import { reportName } from './report-name.ts';

type Start = Extract<Command, { kind: 'start' }>;
type Report = Exclude<CopyReport, { kind: 'append' | 'wait' }>;

/** So many events of a copy may wait for the disk, here or in the outbox: whoever emits more does not await. */
export const MAX_OUTSTANDING_EVENTS = 10_000;
/** And so many code units of JSON. */
const MAX_OUTSTANDING_LENGTH = 16 * 1024 * 1024;
export const FLOOD_LIMIT = `More than ${MAX_OUTSTANDING_EVENTS} events, or 16 MiB of them, wait to be stored: await what you emit.`;
/** How often what is too fast goes on. */
const PACE_MS = 10;

/** Something that may not go out yet. `length`: of an event, in code units of JSON; null for any other report. */
interface Held {
  name: string;
  length: number | null;
  send(): void;
}

/**
 * What a copy reports, in the order of its code's calls, and whether it may: at once, or held until it may again.
 *
 * `replaying`, until all that the journal holds has come again → `live` → (at rest) `asking`, the `wait` is under way →
 * `waiting` → (a call of the code's) `waking` → `live` again with the next claim. In all but `live` what is reported is
 * held; in the last three nothing is delivered either. While it is `live`, events that come too fast wait for their turn,
 * and with them all that is reported after them.
 */
export class Outgoing {
  readonly #reports: NumberedReports;
  #phase: 'replaying' | 'live' | 'asking' | 'waiting' | 'waking' = 'live';
  #held: Held[] = [];
  readonly #pace = new Pace();
  #paced = new Fifo<Held>();
  #pacing: NodeJS.Timeout | null = null;
  /** Of the events that are held or paced. */
  #kept = { events: 0, length: 0 };

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
    return this.#reports.areDone && this.#paced.length === 0;
  }

  /** True when moreover nothing is held. */
  get isDone(): boolean {
    return this.isAcknowledged && this.#held.length === 0;
  }

  /** Whether more events wait for the disk than code that awaits them would ever have. */
  get isFlooded(): boolean {
    const { events, length } = this.#reports.outstanding;
    const kept = this.#kept;
    return events + kept.events > MAX_OUTSTANDING_EVENTS || length + kept.length > MAX_OUTSTANDING_LENGTH;
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
    if (this.#isFlowing) this.#reports.post(report, hooks);
    else this.#keep({ name: reportName(report), length: null, send: () => this.#reports.post(report, hooks) });
  }

  append(event: NewEvent, onAcknowledged?: () => void): void {
    if (this.#isFlowing && this.#pace.take()) this.#reports.append(event, onAcknowledged);
    else {
      const send = () => this.#reports.append(event, onAcknowledged);
      this.#keep({ name: `the event "${event.type}"`, length: eventLength(event), send });
    }
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
    for (const held of this.#held.splice(0)) this.#paced.push(held);
    this.#flow();
  }

  /** Goes on as if nothing had been called while the copy was replayed. */
  abandonReplay(): void {
    this.discard();
    this.goLive();
  }

  /** Sends nothing more of what there is, and expects no answer to what was sent. */
  forget(): void {
    this.discard();
    this.#reports.forget();
  }

  /** Sends nothing of what has not left yet for being held or too fast. */
  discard(): void {
    this.#held = [];
    this.#paced = new Fifo();
    this.#kept = { events: 0, length: 0 };
    if (this.#pacing !== null) own.clearTimeout(this.#pacing);
    this.#pacing = null;
  }

  /** Whether nothing waits that must go first. */
  get #isFlowing(): boolean {
    return this.isLive && this.#paced.length === 0;
  }

  #keep(held: Held): void {
    if (held.length !== null) {
      this.#kept.events++;
      this.#kept.length += held.length;
    }
    if (this.isLive) {
      this.#paced.push(held);
      this.#flow();
      return;
    }
    this.#held.push(held);
    if (this.#phase === 'waiting') this.#wake();
  }

  /** Sends what waits, as far as the pace lets it. */
  #flow(): void {
    if (this.#pacing !== null) return;
    for (let next = this.#paced.first; next !== undefined; next = this.#paced.first) {
      if (next.length !== null) {
        if (!this.#pace.take()) {
          this.#pacing = own.setTimeout(this.#flowOn, PACE_MS);
          return;
        }
        this.#kept.events--;
        this.#kept.length -= next.length;
      }
      this.#paced.shift();
      next.send();
    }
  }

  readonly #flowOn = (): void => {
    this.#pacing = null;
    this.#flow();
  };

  #wake(): void {
    this.#phase = 'waking';
    this.#reports.wake();
  }
}
