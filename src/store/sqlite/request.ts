import type { Batch, VerbCall } from '../../model/batch.ts';
import type { Event, NewEvent } from '../../model/event.ts';
import { packEvents, unpackEvents } from '../../model/event-text.ts';
import { type AgentDescription, StoreError } from '../store.ts';
import type { Commit, Settled } from './writer.ts';

/** Store → writer's thread, in arrays. All but `close` are answered. */
export type Request =
  | ({ kind: 'commit' } & PackedCommit)
  | { kind: 'agents'; agents: readonly AgentDescription[] }
  | { kind: 'close' };

/** What the writer's thread sends back. */
export interface Reply {
  /** How often it had run out of space by then: what was asked for before that was known must fail as well. */
  shortages: number;
  answers: Answer[];
  /** The size of a WAL that another process holds, where that is to be told. */
  heldBytes: number | null;
}

/**
 * `calls` is JSON: what could not cross fails where it was asked. What is text already and can be large stands apart: JSON
 * within JSON takes several times as long to cross.
 */
export interface PackedCommit {
  owner: string;
  /** Of how many shortages of space the caller knew. */
  shortages: number;
  calls: string;
  /** In the order of the calls: the events of each `appendEvents`, packed, and the value of each step. */
  texts: string[];
  /** How many rows it will come to, roughly, a large one counting as several: so the size of a transaction is measured. */
  rows: number;
}

/** What became of a request. They come in the order of the requests. Only a commit gives a batch. */
export type Answer = { ok: true; batch: PackedBatch | null } | { ok: false; failure: Failure };

export interface Failure {
  code: StoreError['code'] | null;
  /** The error, or with a code what lies behind it: classes do not cross. */
  error: unknown;
}

/** Without the events that the caller has in its calls: of those it is told where they belong only, call by call. */
export type PackedBatch = Batch & { appended: Belonging[] };

type Belonging = Pick<Event, 'rootId' | 'conversationId'>;
const NOWHERE: Belonging = { rootId: null, conversationId: null };

/** So much text makes as much work as a row. */
const ROW_CHARS = 4096;

export function packCommit({ owner, calls }: Commit, shortages: number): Request {
  const texts = calls.flatMap((call) => textOf(call) ?? []);
  const chars = texts.reduce((sum, text) => sum + text.length, 0);
  const events = calls.reduce((sum, { verb, args }) => sum + (verb === 'appendEvents' ? args.events.length : 0), 0);
  const rows = Math.max(calls.length + events, Math.ceil(chars / ROW_CHARS));
  const rest = JSON.stringify(calls.map((call) => withText(call, '')));
  return { kind: 'commit', owner, shortages, calls: rest, texts, rows };
}

export function unpackCommit({ owner, calls, texts }: PackedCommit): Commit {
  const parsed: VerbCall[] = JSON.parse(calls);
  const apart = texts.values();
  return {
    owner,
    calls: parsed.map((call) => (textOf(call) === null ? call : withText(call, apart.next().value ?? ''))),
  };
}

/** What of a call stands apart; null for a call of which nothing does. */
function textOf({ verb, args }: VerbCall): string | null {
  if (verb === 'appendEvents') return packEvents(args.events);
  return verb === 'settleStep' && args.outcome.status === 'completed' ? args.outcome.value : null;
}

/** The call with another text, if it has one. */
function withText(call: VerbCall, text: string): VerbCall {
  if (call.verb === 'appendEvents') return { ...call, args: { ...call.args, events: unpackEvents(text) } };
  if (call.verb !== 'settleStep' || call.args.outcome.status !== 'completed') return call;
  return { ...call, args: { ...call.args, outcome: { ...call.args.outcome, value: text } } };
}

export function packAnswer(settled: Settled, calls: readonly VerbCall[]): Answer {
  if (!settled.ok) return { ok: false, failure: packFailure(settled.error) };
  const { batch } = settled;
  const appended: Belonging[] = [];
  const events: Event[] = [];
  let at = 0;
  for (const [index, call] of calls.entries()) {
    const count = batch.eventCounts[index] ?? 0;
    if (call.verb === 'appendEvents') appended.push(belongingOf(batch.events[at]));
    else events.push(...batch.events.slice(at, at + count));
    at += count;
  }
  return { ok: true, batch: { ...batch, events, appended } };
}

function belongingOf(event: Event | undefined): Belonging {
  return event === undefined ? NOWHERE : { rootId: event.rootId, conversationId: event.conversationId };
}

export function unpackBatch(packed: PackedBatch, calls: readonly VerbCall[]): Batch {
  const { appended, ...batch } = packed;
  const belongings = appended.values();
  let taken = 0;
  const events: Event[] = [];
  for (const [index, call] of calls.entries()) {
    const count = batch.eventCounts[index] ?? 0;
    if (call.verb === 'appendEvents') {
      const belonging = belongings.next().value ?? NOWHERE;
      if (count === 0) continue;
      for (const event of call.args.events) events.push(placed(event, belonging, batch, events.length));
    } else {
      events.push(...batch.events.slice(taken, taken + count));
      taken += count;
    }
  }
  return { ...batch, events };
}

function placed(
  { taskId, type, step, data }: NewEvent,
  { rootId, conversationId }: Belonging,
  { firstSeq, now }: Batch,
  index: number,
): Event {
  return { taskId, conversationId, type, step, data, rootId, at: now, seq: firstSeq + index };
}

export function packFailure(error: unknown): Failure {
  return error instanceof StoreError ? { code: error.code, error: error.cause } : { code: null, error };
}

export function unpackFailure({ code, error }: Failure): unknown {
  return code === null ? error : new StoreError(code, error);
}
