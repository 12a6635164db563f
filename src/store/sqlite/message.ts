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
}

/** `calls` is JSON: what could not cross fails where it was asked. The events to append stand apart, call by call. */
export interface PackedCommit {
  owner: string;
  /** Of how many shortages of space the caller knew. */
  shortages: number;
  calls: string;
  /** Packed, one text for each `appendEvents`. */
  events: string[];
  /** How many rows it will come to, roughly: by this the size of a transaction is measured. */
  rows: number;
}

/** What became of a request. They come in the order of the requests. Only a commit gives a batch. */
export type Answer = { ok: true; batch: PackedBatch | null } | { ok: false; failure: Failure };

export interface Failure {
  code: StoreError['code'] | null;
  /** The error, or with a code what lies behind it: classes do not cross. */
  error: unknown;
}

/** Without the events that the caller has in its calls: of those it is told the roots only, call by call. */
export type PackedBatch = Batch & { appendedRoots: string[] };

export function packCommit({ owner, calls }: Commit, shortages: number): Request {
  const appended = calls.flatMap((call) => (call.verb === 'appendEvents' ? [call.args.events] : []));
  const rows = appended.reduce((sum, events) => sum + events.length, calls.length);
  const events = appended.map(packEvents);
  return { kind: 'commit', owner, shortages, calls: JSON.stringify(calls.map(withoutEvents)), events, rows };
}

export function unpackCommit({ owner, calls, events }: PackedCommit): Commit {
  const parsed: VerbCall[] = JSON.parse(calls);
  const apart = events.values();
  return { owner, calls: parsed.map((call) => withEvents(call, apart)) };
}

function withoutEvents(call: VerbCall): VerbCall {
  return call.verb === 'appendEvents' ? { ...call, args: { ...call.args, events: [] } } : call;
}

function withEvents(call: VerbCall, apart: Iterator<string>): VerbCall {
  if (call.verb !== 'appendEvents') return call;
  return { ...call, args: { ...call.args, events: unpackEvents(apart.next().value ?? '') } };
}

export function packAnswer(settled: Settled, calls: readonly VerbCall[]): Answer {
  if (!settled.ok) return { ok: false, failure: packFailure(settled.error) };
  const { batch } = settled;
  const appendedRoots: string[] = [];
  const events: Event[] = [];
  let at = 0;
  for (const [index, call] of calls.entries()) {
    const count = batch.eventCounts[index] ?? 0;
    if (call.verb === 'appendEvents') appendedRoots.push(batch.events[at]?.rootId ?? '');
    else events.push(...batch.events.slice(at, at + count));
    at += count;
  }
  return { ok: true, batch: { ...batch, events, appendedRoots } };
}

export function unpackBatch(packed: PackedBatch, calls: readonly VerbCall[]): Batch {
  const { appendedRoots, ...batch } = packed;
  const roots = appendedRoots.values();
  let taken = 0;
  const events: Event[] = [];
  for (const [index, call] of calls.entries()) {
    const count = batch.eventCounts[index] ?? 0;
    if (call.verb === 'appendEvents') {
      const rootId = roots.next().value ?? '';
      if (count === 0) continue;
      for (const event of call.args.events) events.push(placed(event, rootId, batch, events.length));
    } else {
      events.push(...batch.events.slice(taken, taken + count));
      taken += count;
    }
  }
  return { ...batch, events };
}

function placed(
  { taskId, type, step, data }: NewEvent,
  rootId: string,
  { firstSeq, now }: Batch,
  index: number,
): Event {
  return { taskId, type, step, data, rootId, at: now, seq: firstSeq + index };
}

export function packFailure(error: unknown): Failure {
  return error instanceof StoreError ? { code: error.code, error: error.cause } : { code: null, error };
}

export function unpackFailure({ code, error }: Failure): unknown {
  return code === null ? error : new StoreError(code, error);
}
