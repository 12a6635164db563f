import { describe, expect, test } from 'vitest';
import type { Operation } from '../../src/http/operation.ts';
import { createAppDouble, jsonOf, post, QUESTION, send, TASK } from './app-double.ts';

interface Schema {
  required?: string[];
  properties: { [name: string]: { enum?: string[] } };
  additionalProperties?: boolean;
}

interface Described {
  operationId: string;
  parameters: { name: string; in: string; required?: boolean; schema: object }[];
  requestBody?: { required: boolean; content: { 'application/json': { schema: Schema } } };
  responses: { [status: string]: { description: string } };
}

interface Document {
  openapi: string;
  info: object;
  paths: { [path: string]: { [method: string]: Described } };
  components: { schemas: { [name: string]: Schema } };
}

const { app } = createAppDouble([streamOperation()]);
const document = await jsonOf<Document>(await send(app, '/openapi.json'));
const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): [string, string, Described] => [method, path, operation]),
);

function streamOperation(): Operation {
  return {
    id: 'streamEvents',
    method: 'get',
    path: '/v1/events',
    access: 'anyone',
    summary: 'Everything of the caller',
    answers: { 200: { description: 'Live.', type: 'text/event-stream' }, 204: { description: 'All was told.' } },
    errors: ['cursor_gone'],
    handle: (c) => c.body(null, 204),
  };
}

function refsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' ? [String(inner)] : refsIn(inner)));
}

test('describes every route that is mounted, and no other', () => {
  const mounted = app.routes
    .filter(({ method, path }) => method !== 'ALL' && path !== '/*')
    .map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);

  expect(described.map(([method, path]) => `${method} ${path}`).sort()).toEqual(mounted.sort());
  expect(mounted).toEqual(
    expect.arrayContaining(['post /v1/tasks', 'get /v1/events', 'get /openapi.json', 'get /docs']),
  );
});

describe.each(described)('%s %s', (method, path, operation) => {
  test('has responses that say what they are', () => {
    const statuses = Object.keys(operation.responses);

    expect(statuses.some((status) => status.startsWith('2'))).toBe(true);
    expect(statuses).toContain('default');
    for (const { description } of Object.values(operation.responses)) expect(description).not.toBe('');
  });

  test('declares the parameters of its path', () => {
    const inPath = operation.parameters.filter((parameter) => parameter.in === 'path');

    expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    expect(inPath.every(({ required }) => required === true)).toBe(true);
  });

  test('takes an Idempotency-Key exactly when it is a verb of the log', () => {
    const takesKey = operation.parameters.some(({ name }) => name === 'Idempotency-Key');

    expect(takesKey).toBe(method === 'post' && !/tickets|session/.test(path));
    expect('requestBody' in operation).toBe(method === 'post' || method === 'patch');
  });
});

test('points only at schemas that it holds', () => {
  const names = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);

  expect(names.sort()).toEqual(
    ['Agent', 'Conversation', 'Message', 'OpenConversation', 'Problem', 'Question', 'Session', 'Task', 'Ticket'].map(
      (name) => `#/components/schemas/${name}`,
    ),
  );
  expect(refsIn(document).filter((ref) => !names.includes(ref))).toEqual([]);
  expect(JSON.stringify(document)).not.toMatch(/"\$(id|schema|defs)"/);
});

test('gives each operation a name of its own', () => {
  const ids = described.map(([, , { operationId }]) => operationId);

  expect(new Set(ids).size).toBe(ids.length);
});

test('states the bounds that the server keeps', () => {
  const create = document.paths['/v1/tasks']?.post?.requestBody;
  const list = document.paths['/v1/tasks']?.get?.parameters;
  const cancel = document.paths['/v1/tasks/{taskId}/cancel']?.post?.requestBody;

  expect(create?.required).toBe(true);
  expect(create?.content['application/json'].schema).toMatchObject({
    required: ['agent'],
    additionalProperties: false,
    properties: {
      timeoutMs: { type: 'integer', minimum: 1, maximum: 2_592_000_000, default: 1_800_000 },
      metadata: { type: 'object', default: {} },
      maxAttempts: { type: 'integer', minimum: 1, maximum: 100, default: 1 },
      runAt: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] },
    },
  });
  expect(list).toContainEqual({
    name: 'limit',
    in: 'query',
    schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
  });
  expect(cancel?.required).toBe(false);
});

test('describes tasks and questions as the server shows them', async () => {
  const { Task, Question } = document.components.schemas;
  const task = await jsonOf<object>(await post(app, '/v1/tasks', { agent: 'echo' }));

  expect(Object.keys(Task?.properties ?? {}).sort()).toEqual(Object.keys(task).sort());
  expect(Object.keys(Question?.properties ?? {}).sort()).toEqual(Object.keys(QUESTION).sort());
  expect(Task?.properties.status?.enum).toContain(TASK.status);
});

test('is OpenAPI 3.1 under the version of the server', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(document.info).toEqual({ title: 'Holdfast', version: '0.0.0' });
});
