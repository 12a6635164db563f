import { type CopyReport, MAX_BATCH_EVENTS, MAX_UNACKNOWLEDGED_EVENTS, type Report } from './protocol.ts';

/** A report on its way, and how many events it costs of the worker's credit. */
export interface Envelope {
  readonly report: Report;
  events: number;
  isSent: boolean;
  /** Called when the report has left the thread. */
  onSent(): void;
}

/**
 * What a worker's copies have to report, in the order in which they did: one batch a macrotask, and no more than the
 * store keeps up with. What exceeds the credit waits here until acknowledgements come.
 *
 * @see docs/decisions/003-group-commit.md
 */
export class Outbox {
  readonly #post: (batch: Report[]) => void;
  #queue: Envelope[] = [];
  #unacknowledged = 0;
  #isScheduled = false;

  constructor(post: (batch: Report[]) => void) {
    this.#post = post;
  }

  push(envelope: Envelope): void {
    this.#queue.push(envelope);
    this.#schedule();
  }

  /** Gives back the credit of a report that was sent. */
  acknowledge(envelope: Envelope): void {
    this.#unacknowledged -= envelope.events;
    this.#schedule();
  }

  /** Sends none of these any more, and expects no acknowledgement of those that are sent. */
  forget(envelopes: readonly Envelope[]): void {
    const forgotten = new Set(envelopes);
    this.#queue = this.#queue.filter((envelope) => !forgotten.has(envelope));
    for (const { isSent, events } of envelopes) if (isSent) this.#unacknowledged -= events;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#queue.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#sendBatch();
    });
  }

  #sendBatch(): void {
    const credit = MAX_UNACKNOWLEDGED_EVENTS - this.#unacknowledged;
    const batch = this.#takeUpTo(Math.min(MAX_BATCH_EVENTS, credit));
    if (batch.length === 0) return;
    this.#post(batch.map(({ report }) => report));
    for (const envelope of batch) {
      envelope.isSent = true;
      this.#unacknowledged += envelope.events;
      envelope.onSent();
    }
    this.#schedule();
  }

  #takeUpTo(maxEvents: number): Envelope[] {
    let events = 0;
    const end = this.#queue.findIndex((envelope) => {
      events += envelope.events;
      return events > maxEvents;
    });
    return this.#queue.splice(0, end === -1 ? this.#queue.length : end);
  }
}

/** How many events the verb of a report writes, at most; one that writes none costs as much as one. */
export function eventCount(report: CopyReport): number {
  switch (report.kind) {
    case 'append':
      return report.events.length;
    case 'startStep':
      return 1 + Number(report.tool !== null) + Number(report.messageId !== null);
    case 'settleStep':
      return 1 + Number(report.tool !== null) + Number(report.message !== null);
    default:
      return 1;
  }
}
