import type { NewEvent } from '../model/event.ts';
import { type Envelope, eventCount, eventLength, type Outbox, reportLength } from './outbox.ts';
import { type CopyReport, MAX_BATCH_EVENTS } from './protocol.ts';

/** What to do when a report has left the thread, and when it is on disk. */
export interface ReportHooks {
  onSent?: () => void;
  onAcknowledged?: () => void;
}

/** `emits`: how many events of it come from outside the steps. */
interface Unacknowledged {
  n: number;
  envelope: Envelope;
  emits: number;
  isAppend: boolean;
  onAcknowledged: (() => void)[];
}

/** An append that still waits in the outbox takes in the next one, up to so many code units of JSON. */
const MAX_APPEND_LENGTH = 256 * 1024;

const NOTHING = () => {};

/** The reports of one copy of a task, numbered 1, 2, 3 …, until they are acknowledged. */
export class NumberedReports {
  /** The copy's claim, as every report tells it. */
  fence: number;
  readonly #taskId: string;
  readonly #outbox: Outbox;
  readonly #onEmitsAcknowledged: (count: number) => void;
  #n = 0;
  /** How many events from outside the steps are on disk or on their way. */
  #emits: number;
  #unacknowledged: Unacknowledged[] = [];
  #growing: { events: NewEvent[]; to: Unacknowledged } | null = null;
  #wake: Envelope[] = [];
  /** Of the events in appends that are not acknowledged. */
  readonly outstanding = { events: 0, length: 0 };

  constructor(
    { taskId, fence, emits }: { taskId: string; fence: number; emits: number },
    outbox: Outbox,
    onEmitsAcknowledged: (count: number) => void,
  ) {
    this.#taskId = taskId;
    this.fence = fence;
    this.#emits = emits;
    this.#outbox = outbox;
    this.#onEmitsAcknowledged = onEmitsAcknowledged;
  }

  /** True when the store has acknowledged all of them. */
  get areDone(): boolean {
    return this.#unacknowledged.length === 0;
  }

  post(report: Exclude<CopyReport, { kind: 'append' }>, { onSent = NOTHING, onAcknowledged }: ReportHooks = {}): void {
    const unacknowledged = this.#push(report, eventCount(report), reportLength(report), onSent);
    if (onAcknowledged !== undefined) unacknowledged.onAcknowledged.push(onAcknowledged);
    this.#growing = null;
  }

  append(event: NewEvent, onAcknowledged?: () => void): void {
    const length = eventLength(event);
    const to = this.#grow(event, length) ?? this.#beginAppend(event, length);
    this.outstanding.events++;
    this.outstanding.length += length;
    if (onAcknowledged !== undefined) to.onAcknowledged.push(onAcknowledged);
    if (event.step !== null) return;
    to.emits++;
    this.#emits++;
  }

  /** Asks for a claim. Not numbered, and answered by one or not at all. */
  wake(): void {
    const report = { kind: 'wake', taskId: this.#taskId, fence: this.fence } as const;
    const envelope: Envelope = { report, events: 0, length: 0, isSent: false, onSent: NOTHING };
    this.#wake = [envelope];
    this.#outbox.push(envelope);
  }

  acknowledge(n: number): void {
    for (let first = this.#unacknowledged[0]; first !== undefined && first.n <= n; first = this.#unacknowledged[0]) {
      this.#unacknowledged.shift();
      this.#outbox.acknowledge(first.envelope);
      if (first.isAppend) {
        this.outstanding.events -= first.envelope.events;
        this.outstanding.length -= first.envelope.length;
      }
      this.#onEmitsAcknowledged(first.emits);
      for (const onAcknowledged of first.onAcknowledged) onAcknowledged();
    }
  }

  /** Sends no more of them and expects no answer. */
  forget(): void {
    this.#outbox.forget([...this.#unacknowledged.map(({ envelope }) => envelope), ...this.#wake]);
    this.#unacknowledged = [];
  }

  #push(report: CopyReport, events: number, length: number, onSent: () => void): Unacknowledged {
    const n = ++this.#n;
    const numbered = { taskId: this.#taskId, fence: this.fence, n, ...report };
    const envelope: Envelope = { report: numbered, events, length, isSent: false, onSent };
    const unacknowledged: Unacknowledged = {
      n,
      envelope,
      emits: 0,
      isAppend: report.kind === 'append',
      onAcknowledged: [],
    };
    this.#unacknowledged.push(unacknowledged);
    this.#outbox.push(envelope);
    return unacknowledged;
  }

  #beginAppend(event: NewEvent, length: number): Unacknowledged {
    const events = [event];
    const to = this.#push({ kind: 'append', after: this.#emits, events }, 1, length, NOTHING);
    this.#growing = { events, to };
    return to;
  }

  #grow(event: NewEvent, length: number): Unacknowledged | null {
    if (this.#growing === null) return null;
    const { events, to } = this.#growing;
    const { envelope } = to;
    if (envelope.isSent || events.length === MAX_BATCH_EVENTS || envelope.length + length > MAX_APPEND_LENGTH) {
      return null;
    }
    events.push(event);
    envelope.events++;
    envelope.length += length;
    return to;
  }
}
