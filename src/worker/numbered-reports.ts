import type { NewEvent } from '../model/event.ts';
import { type Envelope, eventCount, type Outbox } from './outbox.ts';
import { type CopyReport, MAX_BATCH_EVENTS } from './protocol.ts';

/** What to do when a report has left the thread, and when it is on disk, `at` epoch ms. */
export interface ReportHooks {
  onSent?: () => void;
  onAcknowledged?: (at: number) => void;
}

interface Unacknowledged {
  n: number;
  envelope: Envelope;
  onAcknowledged: ((at: number) => void)[];
}

/** An append that still waits in the outbox takes in the next one, up to so many code units of JSON. */
const MAX_APPEND_LENGTH = 256 * 1024;

/** The reports of one copy of a task, numbered 1, 2, 3 …, until they are acknowledged. */
export class NumberedReports {
  /** The copy's claim, as every report tells it. */
  fence: number;
  readonly #taskId: string;
  readonly #outbox: Outbox;
  #n = 0;
  #unacknowledged: Unacknowledged[] = [];
  #growing: { events: NewEvent[]; length: number; report: Unacknowledged } | null = null;

  constructor(taskId: string, fence: number, outbox: Outbox) {
    this.#taskId = taskId;
    this.fence = fence;
    this.#outbox = outbox;
  }

  /** True when the store has acknowledged all of them. */
  get areDone(): boolean {
    return this.#unacknowledged.length === 0;
  }

  post(report: CopyReport, { onSent = () => {}, onAcknowledged }: ReportHooks): void {
    const onAcks = onAcknowledged === undefined ? [] : [onAcknowledged];
    if (report.kind === 'append' && this.#grow(report.events, onAcks)) return;
    this.#n++;
    const envelope: Envelope = {
      report: { taskId: this.#taskId, fence: this.fence, n: this.#n, ...report },
      events: eventCount(report),
      isSent: false,
      onSent,
    };
    const unacknowledged = { n: this.#n, envelope, onAcknowledged: onAcks };
    this.#unacknowledged.push(unacknowledged);
    this.#growing =
      report.kind === 'append'
        ? { events: report.events, length: lengthOf(report.events), report: unacknowledged }
        : null;
    this.#outbox.push(envelope);
  }

  /** Asks for a claim. Not numbered, and answered by one or not at all. */
  wake(): void {
    const report = { kind: 'wake', taskId: this.#taskId, fence: this.fence } as const;
    this.#outbox.push({ report, events: 0, isSent: false, onSent: () => {} });
  }

  acknowledge(n: number, at: number): void {
    for (let first = this.#unacknowledged[0]; first !== undefined && first.n <= n; first = this.#unacknowledged[0]) {
      this.#unacknowledged.shift();
      this.#outbox.acknowledge(first.envelope);
      for (const onAcknowledged of first.onAcknowledged) onAcknowledged(at);
    }
  }

  /** Sends no more of them and expects no answer. */
  forget(): void {
    this.#outbox.forget(this.#unacknowledged.map(({ envelope }) => envelope));
    this.#unacknowledged = [];
  }

  #grow(events: NewEvent[], onAcknowledged: ((at: number) => void)[]): boolean {
    const growing = this.#growing;
    const length = lengthOf(events);
    if (growing === null || growing.report.envelope.isSent) return false;
    if (growing.events.length + events.length > MAX_BATCH_EVENTS || growing.length + length > MAX_APPEND_LENGTH)
      return false;
    growing.events.push(...events);
    growing.length += length;
    growing.report.envelope.events = growing.events.length;
    growing.report.onAcknowledged.push(...onAcknowledged);
    return true;
  }
}

function lengthOf(events: readonly NewEvent[]): number {
  return events.reduce((length, { data }) => length + data.length, 0);
}
