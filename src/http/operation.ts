import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import type { z } from 'zod';
import { type ErrorCode, HoldfastError } from '../model/error.ts';
import type { JsonObject } from '../model/json.ts';

export interface HttpEnv {
  Bindings: HttpBindings;
  Variables: {
    requestId: string;
    /** Set for what takes long by intent, streams and waits: it stays out of the latency histogram. */
    untimed?: true;
  };
}

export type HttpContext = Context<HttpEnv>;
export type HttpApp = Hono<HttpEnv>;

/** Whose data a request is about. */
export type OwnerOf = (c: HttpContext) => string;

/** One method of one path: what serves it, and what the OpenAPI document says of it. */
export interface Operation {
  id: string;
  method: 'get' | 'post' | 'patch' | 'delete';
  /** As OpenAPI writes it: `/v1/tasks/{taskId}`. */
  path: string;
  summary: string;
  query?: z.ZodType;
  body?: { schema: z.ZodType; required: boolean; maxBytes?: number };
  /** Whether it takes an `Idempotency-Key`. */
  idempotent?: true;
  answers: { [status: number]: Answer };
  errors: readonly ErrorCode[];
  handle(c: HttpContext): Response | Promise<Response>;
}

/** A good response. Its media `type` is JSON unless given, its `schema` JSON Schema; without both it has no body. */
export interface Answer {
  description: string;
  type?: string;
  schema?: JsonObject;
}

/** Points at one of the document's schemas. */
export function ref(
  name: 'Task' | 'Question' | 'Conversation' | 'OpenConversation' | 'Message' | 'Agent' | 'Problem',
): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Mounts operations. `HEAD` goes with `GET`; what else a path does not take is 405 with `Allow`, `OPTIONS` 204 with it. */
export function mount(app: HttpApp, operations: readonly Operation[]): void {
  for (const { method, path, handle } of operations) app.on(method, routePattern(path), handle);
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const allow = allowedMethods(operations.filter((operation) => operation.path === path));
    app.all(routePattern(path), (c) => {
      c.header('Allow', allow);
      if (c.req.method === 'OPTIONS') return c.body(null, 204);
      throw new HoldfastError('method_not_allowed', `This path takes ${allow}.`);
    });
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
