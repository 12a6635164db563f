import { z } from 'zod';
import { conversationSchema } from '../model/conversation.ts';
import type { ErrorCode } from '../model/error.ts';
import { messageSchema } from '../model/event.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { questionSchema } from '../model/question.ts';
import { taskSchema } from '../model/task.ts';
import { sessionSchema, ticketSchema } from './access.ts';
import { agentSchema } from './agents.ts';
import { openConversationSchema } from './open-conversation.ts';
import { type Answer, type Operation, ref, sendJson } from './operation.ts';
import { problemSchema, statusOf } from './problem.ts';

const WIRE = {
  Task: taskSchema,
  Question: questionSchema,
  Conversation: conversationSchema,
  OpenConversation: openConversationSchema,
  Message: messageSchema,
  Agent: agentSchema,
  Ticket: ticketSchema,
  Session: sessionSchema,
  Problem: problemSchema,
};

const KEY_PARAMETER = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes the request safe to repeat for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
};

/** Serves the document of all operations, itself included. */
export function openApiOperation(operations: readonly Operation[], version: string): Operation {
  const operation: Operation = {
    id: 'openApi',
    method: 'get',
    path: '/openapi.json',
    access: 'anyone',
    summary: 'This description of the API',
    answers: { 200: { description: 'OpenAPI 3.1.', schema: { type: 'object' } } },
    errors: [],
    handle: (c) => sendJson(c, document),
  };
  const document = openApiDocument([...operations, operation], version);
  return operation;
}

/** OpenAPI 3.1, whose schemas are JSON Schema 2020-12: just what zod writes. */
function openApiDocument(operations: readonly Operation[], version: string): JsonObject {
  const paths: { [path: string]: JsonObject } = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) };
  }
  return { openapi: '3.1.0', info: { title: 'Holdfast', version }, paths, components: { schemas: wireSchemas() } };
}

function describe({ id, path, summary, query, body, idempotent, answers, errors }: Operation): JsonObject {
  const parameters = [...pathParameters(path), ...queryParameters(query), ...(idempotent ? [KEY_PARAMETER] : [])];
  const good = Object.entries(answers).map(([status, answer]) => [status, describeAnswer(answer)]);
  const all = [...errors, ...(body === undefined ? [] : BODY_ERRORS), ...(idempotent ? KEY_ERRORS : [])];
  const responses = { ...Object.fromEntries(good), ...errorResponses(all) };
  const requestBody = body && {
    required: body.required,
    content: { 'application/json': { schema: jsonSchema(body.schema) } },
  };
  return { operationId: id, summary, parameters, ...(requestBody && { requestBody }), responses };
}

const BODY_ERRORS = ['invalid_request', 'payload_too_large', 'unsupported_media_type'] as const;
const KEY_ERRORS = ['idempotency_in_progress', 'idempotency_mismatch'] as const;

function describeAnswer({ description, type, schema }: Answer): JsonObject {
  if (type === undefined && schema === undefined) return { description };
  return { description, content: { [type ?? 'application/json']: schema === undefined ? {} : { schema } } };
}

/** One response a status, which names the codes that come with it; and one for whatever else may be refused. */
function errorResponses(errors: readonly ErrorCode[]): JsonObject {
  const content = { 'application/problem+json': { schema: ref('Problem') } };
  const statuses = [...new Set(errors.map(statusOf))].sort();
  const named = statuses.map((status) => {
    const codes = new Set(errors.filter((code) => statusOf(code) === status));
    return [status, { description: [...codes].map((code) => `\`${code}\``).join(', '), content }];
  });
  return { ...Object.fromEntries(named), default: { description: 'Any other error.', content } };
}

function pathParameters(path: string): JsonObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    return { name, in: 'path', required: true, schema: { type: 'string' } };
  });
}

function queryParameters(query: Operation['query']): JsonObject[] {
  if (query === undefined) return [];
  const { properties = {} } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema: plain(schema) }));
}

function jsonSchema(schema: z.ZodType): Json {
  return plain(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
}

function wireSchemas(): Json {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(WIRE)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: (id) => `#/components/schemas/${id}` });
  const { __shared, ...named } = schemas;
  return plain(named);
}

/**
 * Makes schemas a part of the document: they have no identity of their own, and what zod moved out because it is
 * recursive, which only "any JSON" is, becomes the empty schema, which says the same.
 */
function plain(schema: unknown): Json {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => {
      if (key === '$schema' || key === '$id' || key === '$defs') return undefined;
      return typeof value?.$ref === 'string' && value.$ref.includes('$defs') ? {} : value;
    }),
  );
}
