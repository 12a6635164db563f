import type { Batch, VerbCall } from '../../model/batch.ts';
import type { Event, NewEvent } from '../../model/event.ts';
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
  events: Fields[];
}

/** What became of a request. They come in the order of the requests. Only a commit gives a batch. */
export type Answer = { ok: true; batch: PackedBatch | null } | { ok: false; failure: Failure };

export interface Failure {
  code: StoreError['code'] | null;
  /** The error, or with a code what lies behind it: classes do not cross. */
  error: unknown;
}

/** Events as their fields, one after the other: they cross a port five times as fast as one object each. */
type Fields = (string | null)[];
type PackedBatch = Omit<Batch, 'events'> & { events: Fields };

const NEW_EVENT_FIELDS = 4;
const EVENT_FIELDS = 5;

export function packCommit({ owner, calls }: Commit, shortages: number): Request {
  const events = calls.flatMap((call) => (call.verb === 'appendEvents' ? [packNewEvents(call.args.events)] : []));
  return { kind: 'commit', owner, shortages, calls: JSON.stringify(calls.map(withoutEvents)), events };
}

export function unpackCommit({ owner, calls, events }: PackedCommit): Commit {
  const parsed: VerbCall[] = JSON.parse(calls);
  const apart = events.values();
  return { owner, calls: parsed.map((call) => withEvents(call, apart)) };
}

/** How many rows a commit will come to, roughly: by this the size of a transaction is measured. */
export function rowsOf({ events }: PackedCommit): number {
  return events.reduce((rows, fields) => rows + fields.length / NEW_EVENT_FIELDS, 1);
}

function withoutEvents(call: VerbCall): VerbCall {
  return call.verb === 'appendEvents' ? { ...call, args: { ...call.args, events: [] } } : call;
}

function withEvents(call: VerbCall, apart: Iterator<Fields>): VerbCall {
  if (call.verb !== 'appendEvents') return call;
  return { ...call, args: { ...call.args, events: unpackNewEvents(apart.next().value ?? []) } };
}

function packNewEvents(events: readonly NewEvent[]): Fields {
  const fields: Fields = [];
  for (const { taskId, type, step, data } of events) fields.push(taskId, type, step, data);
  return fields;
}

function unpackNewEvents(fields: Fields): NewEvent[] {
  const events: NewEvent[] = [];
  for (let at = 0; at < fields.length; at += NEW_EVENT_FIELDS) events.push(newEventAt(fields, at));
  return events;
}

function newEventAt(fields: Fields, at: number): NewEvent {
  return {
    taskId: fields[at] as string,
    type: fields[at + 1] as string,
    step: fields[at + 2] as string | null,
    data: fields[at + 3] as string,
  };
}

export function packAnswer(settled: Settled): Answer {
  if (!settled.ok) return { ok: false, failure: packFailure(settled.error) };
  const fields: Fields = [];
  for (const { taskId, type, step, data, rootId } of settled.batch.events)
    fields.push(taskId, type, step, data, rootId);
  return { ok: true, batch: { ...settled.batch, events: fields } };
}

export function packFailure(error: unknown): Failure {
  return error instanceof StoreError ? { code: error.code, error: error.cause } : { code: null, error };
}

export function unpackFailure({ code, error }: Failure): unknown {
  return code === null ? error : new StoreError(code, error);
}

export function unpackBatch(batch: PackedBatch): Batch {
  const { events: fields, firstSeq, now } = batch;
  const events: Event[] = [];
  for (let at = 0; at < fields.length; at += EVENT_FIELDS) {
    const rootId = fields[at + 4] as string;
    events.push({ ...newEventAt(fields, at), seq: firstSeq + events.length, at: now, rootId });
  }
  return { ...batch, events };
}
