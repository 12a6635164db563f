import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCOPES, type Scope } from '../../src/model/access.ts';
import type { Conversation } from '../../src/model/conversation.ts';
import { type Answer, type Api, createApi, expectProblem, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { newDirectory } from '../support/store-directory.ts';
import { makeToken, revokeTokenOf } from '../support/token.ts';

/** What each route takes, and a request of its that is good. */
interface Row {
  /** Null where anybody may; `signed-in` where it is enough to show who asks. */
  needs: Scope | 'signed-in' | null;
  /** What the good request is answered with. */
  good: number;
  body?: object;
}

const QUESTION = { items: [{ id: 'word', prompt: 'Which?' }] };
const UNKNOWN = '00000000000000000000000000';

/** By the route, as the OpenAPI document names it. A route without a row fails. */
const ROWS: { [route: string]: Row } = {
  'get /v1/agents': { needs: 'tasks:read', good: 200 },
  'post /v1/tasks': { needs: 'tasks:write', good: 202, body: { agent: 'echo' } },
  'get /v1/tasks': { needs: 'tasks:read', good: 200 },
  'get /v1/tasks/{taskId}': { needs: 'tasks:read', good: 200 },
  'post /v1/tasks/{taskId}/cancel': { needs: 'tasks:write', good: 200 },
  'post /v1/tasks/{taskId}/retry': { needs: 'tasks:write', good: 202 },
  'get /v1/tasks/{taskId}/events': { needs: 'tasks:read', good: 200 },
  'post /v1/conversations': { needs: 'tasks:write', good: 201 },
  'get /v1/conversations': { needs: 'tasks:read', good: 200 },
  'get /v1/conversations/{conversationId}': { needs: 'tasks:read', good: 200 },
  'patch /v1/conversations/{conversationId}': { needs: 'tasks:write', good: 200, body: { title: 'Trip' } },
  'delete /v1/conversations/{conversationId}': { needs: 'tasks:write', good: 204 },
  'get /v1/conversations/{conversationId}/messages': { needs: 'tasks:read', good: 200 },
  'post /v1/conversations/{conversationId}/messages': {
    ...{ needs: 'tasks:write', good: 202 },
    body: { agent: 'echo', content: 'Hi' },
  },
  'get /v1/conversations/{conversationId}/events': { needs: 'tasks:read', good: 200 },
  'get /v1/events': { needs: 'tasks:read', good: 200 },
  'get /v1/questions': { needs: 'tasks:read', good: 200 },
  'get /v1/questions/{questionId}': { needs: 'tasks:read', good: 200 },
  'post /v1/questions/{questionId}/answers': {
    ...{ needs: 'questions:answer', good: 200 },
    body: { answer: 'blue' },
  },
  'post /v1/questions/{questionId}/decline': { needs: 'questions:answer', good: 200 },
  'post /v1/tickets': { needs: 'tasks:read', good: 201 },
  'get /v1/session': { needs: 'signed-in', good: 200 },
  'post /v1/session': { needs: 'signed-in', good: 200 },
  'delete /v1/session': { needs: 'signed-in', good: 204 },
  'get /metrics': { needs: 'admin', good: 200 },
  'get /healthz': { needs: null, good: 200 },
  'get /readyz': { needs: null, good: 200 },
  'get /openapi.json': { needs: null, good: 200 },
  'get /docs': { needs: null, good: 200 },
  'get /docs/{file}': { needs: null, good: 200 },
  'get /': { needs: null, good: 200 },
  'get /console/{asset}': { needs: null, good: 404 },
};

interface Document {
  paths: { [path: string]: { [method: string]: object } };
}

const dataDir = newDirectory();
let server: ServerProcess;
let routes: string[];
/** Those of the owner whose things are asked for; each with all that a token can have. */
let ann: Api;
let bob: Api;
const tokens: { [name: string]: string } = {};

beforeAll(async () => {
  server = await startServerProcess({ dataDir, agents: TASK_AGENTS, flags: ['--auth', 'token'] });
  const make = async (name: string, owner: string, scopes: readonly Scope[], expiresInMs: number | null = null) => {
    const { id, token } = await makeToken(dataDir, owner, scopes, expiresInMs);
    tokens[name] = token;
    return id;
  };
  await make('ann', 'ann', SCOPES);
  await make('bob', 'bob', SCOPES);
  await make('expired', 'ann', SCOPES, 1);
  await revokeTokenOf(dataDir, await make('revoked', 'ann', SCOPES));
  for (const scope of SCOPES) {
    await make(`only ${scope}`, 'ann', [scope]);
    await make(
      `all but ${scope}`,
      'ann',
      SCOPES.filter((other) => other !== scope),
    );
  }
  ann = createApi(server.url, tokens.ann);
  bob = createApi(server.url, tokens.bob);
  const { paths } = (await createApi(server.url).get<Document>('/openapi.json')).body;
  routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

/** Asks a route for something of Ann's that is there, or for what is not anywhere. */
async function ask(route: string, token: string | null, unknown = false): Promise<Answer<object>> {
  const [method = '', pattern = ''] = route.split(' ');
  const path = unknown ? unknownPath(pattern) : await pathOf(route, pattern);
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (token !== null) headers.Authorization = `Bearer ${token}`;
  const body = ROWS[route]?.body;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const init = { method: method.toUpperCase(), headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  return createApi(server.url).send(path, init);
}

function unknownPath(pattern: string): string {
  return pattern
    .replace('{taskId}', `task_${UNKNOWN}`)
    .replace('{questionId}', `qst_${UNKNOWN}`)
    .replace('{conversationId}', `conv_${UNKNOWN}`)
    .replace('{file}', 'none')
    .replace('{asset}', 'none');
}

/** The path with something of Ann's in it that nobody has touched. */
async function pathOf(route: string, pattern: string): Promise<string> {
  if (pattern.includes('{taskId}')) {
    const agent = route.endsWith('/retry') ? 'thrower' : 'asker';
    const { id } = await ann.run(agent, QUESTION);
    return pattern.replace('{taskId}', id);
  }
  if (pattern.includes('{questionId}')) {
    const task = await ann.run('asker', QUESTION);
    const { items } = (await ann.get<{ items: { id: string }[] }>(`/v1/questions?taskId=${task.id}`)).body;
    return pattern.replace('{questionId}', items[0]?.id ?? '');
  }
  if (pattern.includes('{conversationId}')) {
    const { body } = await ann.post<Conversation>('/v1/conversations');
    return pattern.replace('{conversationId}', body.id);
  }
  return pattern.replace('{file}', 'start.js').replace('{asset}', 'none');
}

test('has a row for every route, and for no other', () => {
  expect(Object.keys(ROWS).sort()).toEqual(routes.sort());
});

const ALL = Object.entries(ROWS);

describe('every route', () => {
  test.each(ALL)('%s is answered to whom it is for', async (route, { needs, good }) => {
    const enough = needs === null || needs === 'signed-in' ? tokens.ann : tokens[`only ${needs}`];
    const answer = await ask(route, enough ?? '');
    expect(answer.status).toBe(good);
    if (needs !== null) expect(answer.headers.get('Cache-Control')).toContain('no-store');
    if (needs === null) expect((await ask(route, null)).status).toBe(good);
  });

  test.each(ALL.filter(([, { needs }]) => needs !== null))(
    '%s is refused without a token, and with one that is not good',
    async (route) => {
      const cut = tokens.ann?.slice(0, -1);
      for (const token of [null, 'nonsense', '', cut, tokens.expired, tokens.revoked]) {
        const answer = await ask(route, token ?? null, true);
        expectProblem(answer, 401, 'unauthorized');
        expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer');
        expect(answer.headers.get('Cache-Control')).toBe('no-store');
      }
    },
  );

  test.each(ALL.filter(([, { needs }]) => needs !== null && needs !== 'signed-in'))(
    '%s is refused without its scope, whatever others there are',
    async (route, { needs }) => {
      const answer = await ask(route, tokens[`all but ${needs}`] ?? '', true);
      expect(expectProblem(answer, 403, 'forbidden').detail).toContain(needs);
    },
  );

  test.each(ALL.filter(([route]) => /\{(task|question|conversation)Id\}/.test(route)))(
    '%s tells another owner what it tells of something that is nowhere',
    async (route) => {
      const foreign = await ask(route, tokens.bob ?? '');
      const unknown = await ask(route, tokens.bob ?? '', true);
      expectProblem(foreign, 404, 'not_found');
      expect(foreign.text).toBe(unknown.text);
      expect(comparable(foreign)).toEqual(comparable(unknown));
    },
  );
});

/** What differs from one answer to the next by itself is left out. */
function comparable({ headers }: Answer<unknown>): [string, string][] {
  const ofItself = ['date', 'x-request-id', 'ratelimit', 'ratelimit-policy'];
  return [...headers].filter(([name]) => !ofItself.includes(name)).sort();
}

describe('another owner', () => {
  test('finds nothing of it in any list, nor in the log', async () => {
    const task = await ann.run('asker', QUESTION);
    const { body: conversation } = await ann.post<Conversation>('/v1/conversations');
    const lists = ['/v1/tasks', '/v1/questions', '/v1/conversations', `/v1/questions?taskId=${task.id}`];
    const filtered = [`/v1/tasks?conversationId=${conversation.id}`, `/v1/questions?conversationId=${conversation.id}`];
    for (const path of [...lists, ...filtered]) {
      expect((await bob.get<{ items: object[] }>(path)).body.items, path).toEqual([]);
    }
    expect(await bob.log()).toEqual([]);
  });

  test('cannot name it in what it makes', async () => {
    const { body: conversation } = await ann.post<Conversation>('/v1/conversations');
    const task = await ann.run('echo');
    expectProblem(await bob.post('/v1/tasks', { agent: 'echo', conversationId: conversation.id }), 404, 'not_found');
    expectProblem(await bob.post('/v1/tickets', { taskId: task.id }), 404, 'not_found');
    expectProblem(await bob.post('/v1/tickets', { conversationId: conversation.id }), 404, 'not_found');
  });

  test('has idempotency keys of its own', async () => {
    const headers = { 'Idempotency-Key': 'the-same' };
    const first = await ann.createTask({ agent: 'echo', input: 'a' }, headers);
    const second = await bob.createTask({ agent: 'echo', input: 'b' }, headers);
    expect(second.id).not.toBe(first.id);
  });
});

describe('a trusted server', () => {
  const acting = (name: string, owner: string) => ({
    Authorization: `Bearer ${tokens[name]}`,
    'Holdfast-Owner': owner,
  });

  test('acts for its users with `impersonate`, and for each of them alone', async () => {
    const task = await createApi(server.url).createTask({ agent: 'echo' }, acting('bob', 'carol'));
    expect((await createApi(server.url).get(`/v1/tasks/${task.id}`, acting('bob', 'carol'))).status).toBe(200);
    expectProblem(await bob.get(`/v1/tasks/${task.id}`), 404, 'not_found');
    expectProblem(await createApi(server.url).get('/metrics', acting('bob', 'carol')), 403, 'forbidden');
  });

  test('is refused without it, and for what can be nobody', async () => {
    const path = '/v1/tasks';
    const api = createApi(server.url);
    expectProblem(await api.get(path, acting('all but impersonate', 'bob')), 403, 'forbidden');
    expectProblem(await api.get(path, acting('bob', '')), 400, 'invalid_request');
    expectProblem(await api.get(path, acting('bob', 'a b')), 400, 'invalid_request');
  });
});
