import { failpoint } from '../failpoint.ts';
import type { RowKind } from '../model/journal.ts';
import { EmitOrder } from './emit-order.ts';
import { Failures } from './failures.ts';
import { JournalReplay } from './journal-replay.ts';
import type { Command, StartRow, Told } from './protocol.ts';
import { Resolutions } from './resolutions.ts';

/** Something that the code has asked for under a key and was not given yet. */
export interface Entry {
  kind: RowKind;
  /** Whether the code has the promise in its hands: a child's result comes whether or not it is asked for. */
  isAwaited: boolean;
  /** Settles the promise. */
  settle(told: Told): void;
  /** Called instead when that can no longer happen. */
  onClosed?(): void;
}

/** A call of the code's. `row` is what the journal has under its key; null when the key is new. */
export interface Asked {
  /** How many deliveries the code had been given. */
  askedAt: number;
  row: StartRow | null;
  /** Whether a `once` step under this key may have run, though there is no row. */
  isMarked: boolean;
}

/**
 * What an agent's code asks for and what it is given, in the order of the store, live as on replay: between two deliveries
 * it is deterministic, so that it goes the same way again.
 *
 * @see docs/decisions/006-journal-in-the-order-of-what-happened.md
 */
export class Deliveries {
  readonly emits: EmitOrder;
  readonly replay: JournalReplay;
  readonly resolutions: Resolutions;
  readonly failures = new Failures();
  /**
   * What has to come again: so many events that the store has, and all keys up to this `ord`. `emitsDone`: so many events
   * come before the last of them, whether the store has those or not.
   */
  readonly known: Readonly<{ emits: number; ord: number; emitsDone: number }>;
  readonly #entries = new Map<string, Entry>();
  #count = 0;
  #now: number;

  constructor({ rows, marks, emits, originAt }: Extract<Command, { kind: 'start' }>) {
    this.emits = new EmitOrder(emits);
    this.replay = new JournalReplay(rows, marks);
    this.resolutions = new Resolutions(rows);
    const emitsDone = rows.reduce((highest, row) => Math.max(highest, row.emitsDone ?? 0), 0);
    this.known = { emits, ord: this.resolutions.lastTold, emitsDone };
    this.#now = originAt;
  }

  /** When what the code was given last was resolved, events of its own aside; epoch ms. */
  get now(): number {
    return this.#now;
  }

  /** So many could be delivered, as far as is known here. */
  get due(): number {
    return this.resolutions.undelivered + this.emits.deliverable;
  }

  /** Whether the code has been given everything that it called for and that is not under way outside. */
  get isUpToDate(): boolean {
    return this.resolutions.undelivered === 0 && this.emits.delivered === this.emits.called;
  }

  /** Whether the code has a promise in its hands that has not settled. */
  get areAwaited(): boolean {
    return this.emits.delivered < this.emits.called || [...this.#entries.values()].some(({ isAwaited }) => isAwaited);
  }

  /**
   * Whether the code has come again to all that was known when the copy was started.
   *
   * @param hasEnded code that has ended need not be given all of it: it had ended before that the first time too
   */
  isReplayed(hasEnded: boolean): boolean {
    const { emits, ord } = this.known;
    return this.replay.isAsked && this.emits.called >= emits && (hasEnded || this.resolutions.lastDelivered >= ord);
  }

  /** The row that the code must ask for before it is given anything more; null when it is an event that it must emit. */
  get missing(): StartRow | null {
    const { next } = this.resolutions;
    const lacksEvent = next !== undefined && next.emitsDone > this.emits.called;
    return lacksEvent && !this.replay.isBehind(this.#count) ? null : this.replay.due;
  }

  ask(key: string, entry: Entry): Asked {
    this.#entries.set(key, entry);
    return { askedAt: this.#count, row: this.replay.ask(key), isMarked: this.replay.isMarked(key) };
  }

  /** The keys in the code's hands that only somebody else can resolve. */
  externalKeys(): string[] {
    return [...this.#entries].filter(([, entry]) => entry.isAwaited && isExternal(entry.kind)).map(([key]) => key);
  }

  /**
   * Delivers the next thing: a resolution once all events are delivered that the store had before it, else an event.
   *
   * @returns false when there is nothing, or what is next is not known yet
   */
  deliverNext(): boolean {
    if (this.replay.isBehind(this.#count)) return false;
    const { next } = this.resolutions;
    if (next !== undefined && this.emits.delivered >= next.emitsDone) return this.#settle(next.told);
    if (this.emits.deliverable <= 0) return false;
    this.#count++;
    this.emits.deliverNext();
    return true;
  }

  close(): void {
    for (const { onClosed } of this.#entries.values()) onClosed?.();
    this.#entries.clear();
  }

  #settle(told: Told | null): boolean {
    const entry = this.#entries.get(told?.key ?? '');
    if (told === null || entry === undefined) return false;
    this.failures.note(told, { askedAt: this.#count, emits: this.emits.called });
    this.resolutions.take();
    this.#entries.delete(told.key);
    this.#count++;
    this.#now = told.at;
    failpoint?.('resolved-not-delivered');
    entry.settle(told);
    return true;
  }
}

function isExternal(kind: RowKind): boolean {
  return kind === 'ask' || kind === 'sleep' || kind === 'child';
}
