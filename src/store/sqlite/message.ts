import type { Batch, VerbCall } from '../../model/batch.ts';
import type { Event, NewEvent } from '../../model/event.ts';
import { type AgentDescription, StoreError } from '../store.ts';
import type { Commit, Settled } from './writer.ts';

/** Store → writer's thread, in arrays. All but `close` are answered. */
export type Request =
  | { kind: 'commit'; owner: string; calls: PackedCall[] }
  | { kind: 'agents'; agents: readonly AgentDescription[] }
  | { kind: 'close' };

/** Writer's thread → store, in arrays: what became of the requests, in their order. Only a commit gives a batch. */
export type Answer = { ok: true; batch: PackedBatch | null } | { ok: false; failure: Failure };

export interface Failure {
  code: StoreError['code'] | null;
  /** The error, or with a code what lies behind it: classes do not cross. */
  error: unknown;
}

/** Events as their fields, one after the other: they cross a port five times as fast as one object each. */
type Fields = (string | null)[];
type PackedCall = { call: VerbCall; events: Fields | null };
type PackedBatch = Omit<Batch, 'events'> & { events: Fields };

const NEW_EVENT_FIELDS = 4;
const EVENT_FIELDS = 5;

export function packCommit({ owner, calls }: Commit): Request {
  return { kind: 'commit', owner, calls: calls.map(packCall) };
}

function packCall(call: VerbCall): PackedCall {
  if (call.verb !== 'appendEvents') return { call, events: null };
  const fields: Fields = [];
  for (const { taskId, type, step, data } of call.args.events) fields.push(taskId, type, step, data);
  return { call: { ...call, args: { ...call.args, events: [] } }, events: fields };
}

export function unpackCall({ call, events }: PackedCall): VerbCall {
  if (call.verb !== 'appendEvents' || events === null) return call;
  return { ...call, args: { ...call.args, events: unpackNewEvents(events) } };
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

/** How many rows a call will come to, roughly: what the size of a transaction is counted by. */
export function rowsOf({ events }: PackedCall): number {
  return events === null ? 1 : events.length / NEW_EVENT_FIELDS;
}

export function packAnswer(settled: Settled): Answer {
  if (!settled.ok) return { ok: false, failure: packFailure(settled.error) };
  const fields: Fields = [];
  for (const { taskId, type, step, data, rootId } of settled.batch.events) fields.push(taskId, type, step, data, rootId);
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
