import { failpoint } from '../failpoint.ts';
import type { NewEvent } from '../model/event.ts';
import { Fifo } from './fifo.ts';
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
 * What a worker's copies have to report, each copy's in its order: one batch a macrotask, and no more than the store keeps
 * up with. What exceeds the credit waits here until acknowledgements come. The copies take turns, one report each, so that
 * what floods this worker does not stand before the others.
 *
 * @see docs/decisions/003-group-commit.md
 */
export class Outbox {
  readonly #post: (batch: Report[]) => void;
  /** By task, whose turn it is first. */
  #queues = new Map<string, Fifo<Envelope>>();
  readonly #unacknowledged: Cost = { events: 0, length: 0 };
  #isScheduled = false;

  constructor(post: (batch: Report[]) => void) {
    this.#post = post;
  }

  push(envelope: Envelope): void {
    this.#enqueue(envelope);
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
    const queues = [...this.#queues.values()];
    this.#queues = new Map();
    for (const queue of queues) {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        if (!forgotten.has(next)) this.#enqueue(next);
      }
    }
    for (const envelope of envelopes) if (envelope.isSent) this.acknowledge(envelope);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#queues.size === 0) return;
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
    const batch: Envelope[] = [];
    for (const [taskId, queue] of this.#queues) {
      const next = queue.first;
      if (next === undefined) throw new Error('A queue that is empty is no longer kept.');
      taken.events += next.events;
      taken.length += next.length;
      const isFull =
        taken.events > Math.min(MAX_BATCH_EVENTS, MAX_UNACKNOWLEDGED_EVENTS - events) ||
        (taken.length > MAX_BATCH_LENGTH && taken.length > next.length) ||
        (length + taken.length > MAX_UNACKNOWLEDGED_LENGTH && length + taken.length > next.length);
      if (isFull) break;
      batch.push(next);
      queue.shift();
      // Put back at the end, where the loop comes to it again.
      this.#queues.delete(taskId);
      if (queue.length > 0) this.#queues.set(taskId, queue);
    }
    return batch;
  }

  #enqueue(envelope: Envelope): void {
    const { report } = envelope;
    const taskId = 'taskId' in report ? report.taskId : '';
    const queue = this.#queues.get(taskId) ?? new Fifo();
    queue.push(envelope);
    this.#queues.set(taskId, queue);
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
