import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, createApi, expectProblem, type Page, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isNamed, isType } from '../support/sse-reader.ts';

/** What the protocol says there is. */
const ROUTES = [
  'get /v1/agents',
  'post /v1/tasks',
  'get /v1/tasks',
  'get /v1/tasks/{taskId}',
  'post /v1/tasks/{taskId}/cancel',
  'post /v1/tasks/{taskId}/retry',
  'get /v1/tasks/{taskId}/events',
  'post /v1/conversations',
  'get /v1/conversations',
  'get /v1/conversations/{conversationId}',
  'patch /v1/conversations/{conversationId}',
  'delete /v1/conversations/{conversationId}',
  'get /v1/conversations/{conversationId}/messages',
  'post /v1/conversations/{conversationId}/messages',
  'get /v1/conversations/{conversationId}/events',
  'get /v1/events',
  'get /v1/questions',
  'get /v1/questions/{questionId}',
  'post /v1/questions/{questionId}/answers',
  'post /v1/questions/{questionId}/decline',
  'post /v1/tickets',
  'get /v1/session',
  'post /v1/session',
  'delete /v1/session',
  'get /healthz',
  'get /readyz',
  'get /metrics',
  'get /openapi.json',
  'get /docs',
];
/** What is served beside it: the files of the page. */
const EXTRA_ROUTES = ['get /docs/{file}', 'get /', 'get /console/{asset}'];
const CODES = [
  'invalid_request',
  'not_found',
  'task_finished',
  'question_resolved',
  'conversation_busy',
  'idempotency_in_progress',
  'cursor_gone',
  'payload_too_large',
  'unsupported_media_type',
  'invalid_input',
  'unknown_agent',
  'invalid_answer',
  'idempotency_mismatch',
];

const CONTENT = { content: 'Hello', agent: 'echo' };

/** What takes an Idempotency-Key: every POST that makes or resolves something of the log, and nothing else. */
const KEYED = ROUTES.filter((route) => route.startsWith('post ') && !/tickets|session/.test(route));

interface Operation {
  operationId: string;
  summary: string;
  parameters: { name: string; in: string }[];
  requestBody?: { content: { [type: string]: { schema: object } } };
  responses: { [status: string]: { description: string; content?: { [type: string]: object } } };
}

interface Document {
  openapi: string;
  info: { title: string; version: string };
  paths: { [path: string]: { [method: string]: Operation } };
  components: { schemas: { [name: string]: { properties: object } } };
}

let server: ServerProcess;
let api: Api;
let document: Document;

beforeAll(async () => {
  server = await startServerProcess({ agents: TASK_AGENTS });
  api = createApi(server.url);
  document = (await api.get<Document>('/openapi.json')).body;
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

function described(): [string, Operation][] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
  );
}

function refsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' ? [String(inner)] : refsIn(inner)));
}

async function metric(name: string): Promise<number> {
  const { text } = await api.get('/metrics');
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

describe('§10 healthz and readyz', () => {
  test.each(['/healthz', '/readyz'])(
    '%s is 200 while the server serves, whatever stands in the query',
    async (path) => {
      expect((await api.get(path)).status).toBe(200);
      expect((await api.get(`${path}?probe=1`)).status).toBe(200);
      expect((await api.send(path, { method: 'HEAD' })).status).toBe(200);
    },
  );

  test('readyz is 503 while the server drains, and healthz is still 200', async () => {
    const draining = await startServerProcess({ agents: TASK_AGENTS });
    const other = createApi(draining.url);
    // A task that goes on keeps the server draining for a while.
    await other.createTask({ agent: 'holder' });
    const reader = await other.openStream('/v1/events');
    await reader.until(isType('holder.begun'));
    const probes = [await halfRequest(draining.url, '/healthz'), await halfRequest(draining.url, '/readyz')];

    const stopped = draining.stop();
    const bye = await reader.until(isNamed('bye'));
    const [health, ready] = await Promise.all(probes.map(finishRequest));

    expect(JSON.parse(bye.data ?? '')).toEqual({ reason: 'drain' });
    expect(health).toMatch(/^HTTP\/1\.1 200 /);
    expect(ready).toMatch(/^HTTP\/1\.1 503 /);
    expect(ready).toMatch(/\r\nRetry-After: \d+\r\n/i);
    expect(ready).toContain('application/problem+json');
    expect(await stopped).toBe(0);
  });
});

/**
 * Sends a request but for its last line, so that the server must wait for it. It comes in one packet with a whole
 * request: when that is answered, its beginning has been read, and the connection is no idle one.
 */
async function halfRequest(url: string, path: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    `HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`,
  );
  await once(socket, 'data');
  return socket;
}

async function finishRequest(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.write('\r\n');
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

describe('§10 metrics', () => {
  test('are in the text format of Prometheus', async () => {
    const { status, headers, text } = await api.get('/metrics');

    expect(status).toBe(200);
    expect(headers.get('Content-Type')).toMatch(/^text\/plain/);
    const lines = text.split('\n').filter((line) => line !== '');
    const form = /^(# (HELP|TYPE) \w+ .+|[a-z_:][\w:]*(\{\w+="[^"]*"(,\w+="[^"]*")*\})? (NaN|[+-]?Inf|-?[\d.e+-]+))$/;
    expect(lines.filter((line) => !form.test(line))).toEqual([]);
  });

  test('holdfast_streams_open counts open streams, and is zero again when the clients have left', async () => {
    const { id } = await api.run('echo');
    const before = await metric('holdfast_streams_open');
    const readers = await Promise.all(Array.from({ length: 7 }, () => api.openStream('/v1/events')));
    const open = await metric('holdfast_streams_open');
    const ended = await api.openStream(`/v1/tasks/${id}/events`);
    await ended.rest();

    for (const reader of readers) reader.close();
    while ((await metric('holdfast_streams_open')) !== 0);

    expect({ before, open }).toEqual({ before: 0, open: 7 });
  });

  test('name routes by their pattern, so that ids and unknown paths make no series of their own', async () => {
    const { id } = await api.run('echo');
    await api.get(`/v1/tasks/${id}`);
    await api.get('/no/such/path');

    const { text } = await api.get('/metrics');

    expect(text).not.toContain(id);
    expect(text).not.toContain('/no/such/path');
    expect(text).toContain('route="/v1/tasks/:taskId"');
  });
});

describe('§10 openapi.json', () => {
  test('is OpenAPI 3.1 of this server', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info).toMatchObject({ title: 'Holdfast', version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  });

  test('describes what the protocol has, and nothing else', () => {
    expect(
      described()
        .map(([route]) => route)
        .sort(),
    ).toEqual([...ROUTES, ...EXTRA_ROUTES].sort());
  });

  test('every operation has a name of its own, a summary, its path parameters and responses', () => {
    const operations = described();

    expect(new Set(operations.map(([, { operationId }]) => operationId)).size).toBe(operations.length);
    for (const [route, { summary, parameters, responses }] of operations) {
      expect(summary, route).toMatch(/\w/);
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `{${name}}`);
      expect(inPath, route).toEqual(route.match(/\{\w+\}/g) ?? []);
      expect(
        Object.keys(responses).some((status) => /^2\d\d$/.test(status)),
        route,
      ).toBe(true);
    }
  });

  test('every reference leads somewhere', () => {
    const names = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);

    expect(refsIn(document).filter((ref) => !names.includes(ref))).toEqual([]);
  });

  test('what it describes is served, and each method that it does not describe is 405', async () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const concrete = path
        .replace('{taskId}', `task_${'0'.repeat(26)}`)
        .replace('{questionId}', `qst_${'0'.repeat(26)}`)
        .replace('{conversationId}', `conv_${'0'.repeat(26)}`);
      if (path.includes('{file}') || path.includes('{asset}')) continue;
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']) {
        const abort = new AbortController();
        const { status } = await fetch(`${api.url}${concrete}`, { method, signal: abort.signal });
        abort.abort();

        if (method.toLowerCase() in methods) expect(status, `${method} ${path}`).not.toBe(405);
        else expect(status, `${method} ${path}`).toBe(405);
      }
    }
  });

  test('§2 every POST takes an Idempotency-Key, and nothing else does', () => {
    const keyed = described()
      .filter(([, { parameters }]) => parameters.some(({ name }) => name === 'Idempotency-Key'))
      .map(([route]) => route);

    expect(keyed.sort()).toEqual(KEYED.toSorted());
  });

  test('its schemas name the fields of what they describe as it is read', async () => {
    const waiting = await api.run('asker', { items: [{ id: 'a', prompt: 'Well?' }] });
    const question = await api.pendingQuestion(waiting.id);
    const { id } = (await api.post<{ id: string }>('/v1/conversations', {})).body;
    const listed = await api.get<Page<object>>('/v1/conversations?limit=1');
    const opened = await api.get<object>(`/v1/conversations/${id}`);
    const posted = await api.post<{ message: object }>(`/v1/conversations/${id}/messages`, CONTENT);
    const { Task, Question, Conversation, OpenConversation, Message } = document.components.schemas;
    const read: [{ properties: object } | undefined, object | undefined][] = [
      [Task, waiting],
      [Question, question],
      [Conversation, listed.body.items[0]],
      [OpenConversation, opened.body],
      [Message, posted.body.message],
    ];

    for (const [schema, value] of read) {
      expect(Object.keys(schema?.properties ?? {}).sort()).toEqual(Object.keys(value ?? {}).sort());
    }
  });

  test('§9 its error responses name the codes', () => {
    const text = JSON.stringify(document.paths);

    expect(CODES.filter((code) => !text.includes(`\`${code}\``))).toEqual([]);
  });
});

describe('§10 docs', () => {
  test('the page and all it needs come from the server itself', async () => {
    const page = await api.get('/docs');
    const needed = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link ?? '');

    expect(page.status).toBe(200);
    expect(page.headers.get('Content-Type')).toMatch(/^text\/html/);
    expect(needed.length).toBeGreaterThan(2);
    for (const link of needed) {
      expect(link).not.toMatch(/^(https?:)?\/\//);
      const url = new URL(link, `${api.url}/docs`);
      expect((await api.get(url.pathname)).status, link).toBe(200);
    }
  });

  test('the page may load nothing from elsewhere', async () => {
    const policy = (await api.get('/docs')).headers.get('Content-Security-Policy') ?? '';

    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/https?:|\*/);
  });

  test.each(['package.json', '..%2fpackage.json', '%2e%2e%2findex.js', 'x', 'swagger-ui.css.map'])(
    'it serves no other file: %s',
    async (file) => {
      expectProblem(await api.get(`/docs/${file}`), 404, 'not_found');
    },
  );
});
