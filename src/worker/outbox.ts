import { failpoint } from '../failpoint.ts';
import type { NewEvent } from '../model/event.ts';
import { own } from './own-globals.ts';
import {
  type CopyReport,
  MAX_BATCH_EVENTS,
  MAX_BATCH_LENGTH,
  MAX_UNACKNOWLEDGED_EVENTS,
  MAX_UNACKNOWLEDGED_LENGTH,
  type Report,
} from './protocol.ts';

/** A report on its way, and what it costs of the worker's credit: so many events, and code units of JSON. */
export interface Envelope {
  readonly report: Report;
  events: number;
  length: number;
  isSent: boolean;
  /** Called when the report has left the thread. */
  onSent(): void;
}

type Cost = Pick<Envelope, 'events' | 'length'>;

/**
 * What a worker's copies have to report, in the order in which they did: one batch a macrotask, and no more than the
 * store keeps up with. What exceeds the credit waits here until acknowledgements come.
 *
 * @see docs/decisions/003-group-commit.md
 */
export class Outbox {
  readonly #post: (batch: Report[]) => void;
  #queue: Envelope[] = [];
  readonly #unacknowledged: Cost = { events: 0, length: 0 };
  #isScheduled = false;

  constructor(post: (batch: Report[]) => void) {
    this.#post = post;
  }

  push(envelope: Envelope): void {
    this.#queue.push(envelope);
    this.#schedule();
  }

  /** Gives back the credit of a report that was sent. */
  acknowledge({ events, length }: Envelope): void {
    this.#unacknowledged.events -= events;
    this.#unacknowledged.length -= length;
    this.#schedule();
  }

  /** Sends none of these any more, and expects no acknowledgement of those that are sent. */
  forget(envelopes: readonly Envelope[]): void {
    const forgotten = new Set(envelopes);
    this.#queue = this.#queue.filter((envelope) => !forgotten.has(envelope));
    for (const envelope of envelopes) if (envelope.isSent) this.acknowledge(envelope);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#queue.length === 0) return;
    this.#isScheduled = true;
    own.setImmediate(() => {
      this.#isScheduled = false;
      this.#sendBatch();
    });
  }

  #sendBatch(): void {
    const batch = this.#takeBatch();
    if (batch.length === 0) return;
    failpoint?.('reports-not-posted');
    this.#post(batch.map(({ report }) => report));
    for (const envelope of batch) {
      envelope.isSent = true;
      this.#unacknowledged.events += envelope.events;
      this.#unacknowledged.length += envelope.length;
      envelope.onSent();
    }
    this.#schedule();
  }

  /** A report that is longer than a bound goes when there is nothing else. */
  #takeBatch(): Envelope[] {
    const { events, length } = this.#unacknowledged;
    const taken: Cost = { events: 0, length: 0 };
    const end = this.#queue.findIndex((envelope) => {
      taken.events += envelope.events;
      taken.length += envelope.length;
      return (
        taken.events > Math.min(MAX_BATCH_EVENTS, MAX_UNACKNOWLEDGED_EVENTS - events) ||
        (taken.length > MAX_BATCH_LENGTH && taken.length > envelope.length) ||
        (length + taken.length > MAX_UNACKNOWLEDGED_LENGTH && length + taken.length > envelope.length)
      );
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

/** How long a report is, in code units of JSON; an append is as long as its events. */
export function reportLength(report: CopyReport): number {
  return JSON.stringify(report).length;
}

export function eventLength({ taskId, type, step, data }: NewEvent): number {
  return (taskId?.length ?? 0) + type.length + (step?.length ?? 0) + data.length;
}
