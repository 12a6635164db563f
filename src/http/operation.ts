import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context, Hono } from 'hono';
import type { z } from 'zod';
import type { Principal, Scope, TicketSubject } from '../model/access.ts';
import { type ErrorCode, HoldfastError } from '../model/error.ts';
import type { JsonObject } from '../model/json.ts';
import { prefersJson } from './event-request.ts';
import { statusOf } from './problem.ts';

export interface HttpEnv {
  Bindings: HttpBindings;
  Variables: {
    requestId: string;
    /** Set for what takes long by intent, streams and waits: it stays out of the latency histogram. */
    untimed?: true;
    /** What goes with every response, streams included. */
    always?: Record<string, string>;
    /** Who asks; set for all but what anyone may. */
    principal: Principal;
  };
}

export type HttpContext = Context<HttpEnv>;
export type HttpApp = Hono<HttpEnv>;

/** Whose data a request is about. */
export function ownerOf(c: HttpContext): string {
  return c.get('principal').owner;
}

/** One method of one path: what serves it, and what the OpenAPI document says of it. */
export interface Operation {
  id: string;
  method: 'get' | 'post' | 'patch' | 'delete';
  /** As OpenAPI writes it: `/v1/tasks/{taskId}`. */
  path: string;
  /** What it takes to ask: a scope, or only to show who asks. */
  access: Scope | 'signed-in' | 'anyone';
  /** For an event stream, which a browser asks for without headers. */
  stream?: StreamRules;
  summary: string;
  query?: z.ZodType;
  body?: { schema: z.ZodType; required: boolean; maxBytes?: number };
  /** Whether it begins what costs the server work for long: the first to be refused when there is too much. */
  newWork?: true;
  /** Whether it takes an `Idempotency-Key`. */
  idempotent?: true;
  answers: { [status: number]: Answer };
  errors: readonly ErrorCode[];
  handle(c: HttpContext): Response | Promise<Response>;
}

/** Has headers sent with whatever this is answered with. */
export function sendAlways(c: HttpContext, headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  c.set('always', { ...c.get('always'), ...headers });
}

export interface StreamRules {
  /** What it tells of: a ticket for that opens it. */
  subject(c: HttpContext): TicketSubject;
  /** What is said in place of a 5xx, for which `EventSource` would give up for ever. */
  comeBack(c: HttpContext): Response;
}

/** Lets an operation be asked, or throws what to answer instead. */
export interface Gate {
  /** @throws HoldfastError `unauthorized`, `forbidden`, `overloaded`, `storage_unavailable` */
  admit(c: HttpContext, operation: Operation): Promise<void>;
  /**
   * What was admitted has waited: it may not be told to whom it was let in.
   *
   * @throws HoldfastError `unauthorized`, `storage_unavailable`
   */
  admitAgain(c: HttpContext): Promise<void>;
}

/** A good response. Its media `type` is JSON unless given, its `schema` JSON Schema; without both it has no body. */
export interface Answer {
  description: string;
  type?: string;
  schema?: JsonObject;
}

/** Points at one of the document's schemas. */
export function ref(
  name:
    | 'Task'
    | 'Question'
    | 'Conversation'
    | 'OpenConversation'
    | 'Message'
    | 'Agent'
    | 'Ticket'
    | 'Session'
    | 'Problem',
): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Mounts operations. `HEAD` goes with `GET`; what else a path does not take is 405 with `Allow`, `OPTIONS` 204 with it. */
export function mount(app: HttpApp, operations: readonly Operation[], gate: Gate): void {
  for (const operation of operations) app.on(operation.method, routePattern(operation.path), guarded(operation, gate));
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const allow = allowedMethods(operations.filter((operation) => operation.path === path));
    app.all(routePattern(path), (c) => {
      c.header('Allow', allow);
      if (c.req.method === 'OPTIONS') return c.body(null, 204);
      throw new HoldfastError('method_not_allowed', `This path takes ${allow}.`);
    });
  }
}

function guarded(operation: Operation, gate: Gate): (c: HttpContext) => Promise<Response> {
  return async (c) => {
    try {
      await gate.admit(c, operation);
    } catch (error) {
      const isTheirs = error instanceof HoldfastError && statusOf(error.code) < 500;
      if (isTheirs || operation.stream === undefined || prefersJson(c.req.header('Accept'))) throw error;
      return operation.stream.comeBack(c);
    }
    const response = await operation.handle(c);
    if (c.get('untimed') && response !== RESPONSE_ALREADY_SENT) await admitAgain(c, gate);
    return response;
  };
}

/** Nothing goes out of what was for somebody who may not know it any more. */
async function admitAgain(c: HttpContext, gate: Gate): Promise<void> {
  try {
    await gate.admitAgain(c);
  } catch (error) {
    for (const name of ['Location', 'Holdfast-Cursor', 'Idempotency-Replayed']) c.header(name, undefined);
    throw error;
  }
}

/** Sends JSON as it is, with the cursor from which a stream misses no later change. */
export function sendRead(c: HttpContext, body: object, cursor: string, status: 200 | 201 | 202 = 200): Response {
  c.header('Holdfast-Cursor', cursor);
  return sendJson(c, body, status);
}

export function sendJson(c: HttpContext, body: object, status: 200 | 201 | 202 = 200): Response {
  return c.body(JSON.stringify(body), status, { 'Content-Type': 'application/json' });
}

function allowedMethods(operations: readonly Operation[]): string {
  const methods = operations.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
  return [...methods, 'OPTIONS'].join(', ');
}

function routePattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
