import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Conversation } from '../../src/model/conversation.ts';
import { type Api, createApi, expectProblem, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isNamed, openSseReader, type SseReader } from '../support/sse-reader.ts';
import { newDirectory } from '../support/store-directory.ts';
import { makeToken, revokeTokenOf } from '../support/token.ts';

const SCOPES = ['tasks:read', 'tasks:write', 'questions:answer'] as const;
/** How long a stream may go on after who reads it may not. */
const WITHIN_MS = 5000;

interface Ticket {
  ticket: string;
  expiresAt: string;
}

const dataDir = newDirectory();
let server: ServerProcess;

beforeAll(async () => {
  server = await startServerProcess({ dataDir, agents: TASK_AGENTS, flags: ['--auth', 'token'] });
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

async function signUp(
  owner: string,
  expiresInMs: number | null = null,
): Promise<{ id: string; token: string; api: Api }> {
  const made = await makeToken(dataDir, owner, SCOPES, expiresInMs);
  return { ...made, api: createApi(server.url, made.token) };
}

async function ticketFor(api: Api, body?: object): Promise<Ticket> {
  const { status, text, body: ticket } = await api.post<Ticket>('/v1/tickets', body);
  expect(status, text).toBe(201);
  return ticket;
}

/** Without a header, as `EventSource` asks. */
function open(path: string, ticket: string, more = ''): Promise<SseReader> {
  return openSseReader(`${server.url}${path}?ticket=${ticket}${more}`);
}

async function session(token: string): Promise<string> {
  const { headers } = await createApi(server.url, token).post('/v1/session');
  return headers.get('Set-Cookie')?.split(';')[0] ?? '';
}

async function expectAuthExpired(reader: SseReader, since: number): Promise<void> {
  const blocks = await reader.rest();
  expect(blocks.at(-1)).toMatchObject({ event: 'bye', data: '{"reason":"auth-expired"}' });
  expect(blocks.at(-1)?.retry).not.toBeNull();
  expect(Date.now() - since).toBeLessThan(WITHIN_MS);
}

describe('a ticket', () => {
  test('opens the stream that it is for, and pages of it, and no other route', async () => {
    const { api } = await signUp('ann');
    const task = await api.run('echo');
    const other = await api.run('echo');
    const { body: conversation } = await api.post<Conversation>('/v1/conversations');
    const { ticket } = await ticketFor(api, { taskId: task.id });
    const anybody = createApi(server.url);

    const reader = await open(`/v1/tasks/${task.id}/events`, ticket);
    expect(reader.response.status).toBe(200);
    await reader.until(isNamed('end'));
    const path = `/v1/tasks/${task.id}/events?ticket=${ticket}`;
    expect((await anybody.get(path, { Accept: 'application/json' })).status).toBe(200);
    const elsewhere = [
      `/v1/tasks/${other.id}/events`,
      `/v1/conversations/${conversation.id}/events`,
      '/v1/events',
      `/v1/tasks/${task.id}`,
      '/v1/tasks',
      '/metrics',
    ];
    for (const each of elsewhere) expectProblem(await anybody.get(`${each}?ticket=${ticket}`), 401, 'unauthorized');
    expectProblem(await anybody.post(`/v1/tickets?ticket=${ticket}`), 401, 'unauthorized');
  });

  test('for everything opens every stream of its owner, and nothing of another', async () => {
    const { api } = await signUp('ann');
    const bob = (await signUp('bob')).api;
    const task = await api.run('echo');
    const foreign = await bob.run('echo');
    const { ticket } = await ticketFor(api);
    for (const path of ['/v1/events', `/v1/tasks/${task.id}/events`]) {
      const reader = await open(path, ticket);
      expect(reader.response.status).toBe(200);
      reader.close();
    }
    expect((await open(`/v1/tasks/${foreign.id}/events`, ticket)).response.status).toBe(404);
  });

  // A plain EventSource must not die of a tunnel: it comes back by the same URL, long after the ticket was to be used.
  test('stays good for who reads with it, when its own time is over', async () => {
    const { api } = await signUp('ann');
    const { ticket, expiresAt } = await ticketFor(api, { ttlMs: 1000 });
    const unused = await ticketFor(api, { ttlMs: 1000 });
    const reader = await open('/v1/events', ticket);
    await reader.until(isNamed('caught-up'));

    await untilRefused(unused.ticket);
    expect(Date.now()).toBeGreaterThan(Date.parse(expiresAt));
    reader.close();
    const again = await open('/v1/events', ticket);
    await again.until(isNamed('caught-up'));
    again.close();
  });

  test('survives a server that is killed, with the reader that comes back with it', async () => {
    const dir = newDirectory();
    const { token } = await makeToken(dir, 'ann', SCOPES);
    const flags = ['--auth', 'token'];
    const first = await startServerProcess({ dataDir: dir, flags });
    const { body } = await createApi(first.url, token).post<Ticket>('/v1/tickets');
    await first.kill();
    const second = await startServerProcess({ dataDir: dir, flags });
    const reader = await openSseReader(`${second.url}/v1/events?ticket=${body.ticket}`);
    expect(reader.response.status).toBe(200);
    reader.close();
    expect(await second.stop()).toBe(0);
  });

  test.each([
    ['a task and a conversation at once', { taskId: 'task_x', conversationId: 'conv_x' }, 400, 'invalid_request'],
    ['longer than ten minutes', { ttlMs: 600_001 }, 400, 'invalid_request'],
    ['what is no id', { taskId: 'x' }, 404, 'not_found'],
  ])('is refused for %s', async (_what, body, status, code) => {
    expectProblem(await (await signUp('ann')).api.post('/v1/tickets', body), status, code);
  });

  /** Asks until the answer is another one: the time of the ticket is the server's. */
  async function untilRefused(ticket: string): Promise<void> {
    for (;;) {
      const { response, close } = await openHead(ticket);
      close();
      if (response.status === 401) return;
    }
  }

  async function openHead(ticket: string): Promise<Pick<SseReader, 'response' | 'close'>> {
    const response = await fetch(`${server.url}/v1/tasks/task_00000000000000000000000000/events?ticket=${ticket}`);
    await response.text();
    return { response, close() {} };
  }
});

describe('a stream ends with `bye auth-expired`', () => {
  test('when its token is revoked, by whatever it was opened with', async () => {
    const { id, token, api } = await signUp('ann');
    const { ticket } = await ticketFor(api);
    const cookie = await session(token);
    const readers = await Promise.all([
      api.openStream('/v1/events'),
      open('/v1/events', ticket),
      openSseReader(`${server.url}/v1/events`, { Cookie: cookie }),
    ]);
    for (const reader of readers) {
      expect(reader.response.status).toBe(200);
      await reader.until(isNamed('caught-up'));
    }
    const another = await (await signUp('ann')).api.openStream('/v1/events');

    const since = Date.now();
    await revokeTokenOf(dataDir, id);
    await Promise.all(readers.map((reader) => expectAuthExpired(reader, since)));

    expect((await open('/v1/events', ticket)).response.status).toBe(401);
    expect((await openSseReader(`${server.url}/v1/events`, { Cookie: cookie })).response.status).toBe(401);
    expectProblem(await api.get('/v1/tasks'), 401, 'unauthorized');
    expect(another.blocks.some(({ event }) => event === 'bye')).toBe(false);
    another.close();
  });

  test('when its token comes to its end', async () => {
    const { api } = await signUp('ann', 2500);
    const endsAt = Date.now() + 2500;
    const reader = await api.openStream('/v1/events');
    await reader.until(isNamed('caught-up'));
    await expectAuthExpired(reader, endsAt);
  });

  test('when its session is ended', async () => {
    const { token } = await signUp('ann');
    const Cookie = await session(token);
    const reader = await openSseReader(`${server.url}/v1/events`, { Cookie });
    await reader.until(isNamed('caught-up'));
    const since = Date.now();
    const headers = { Cookie, 'Sec-Fetch-Site': 'same-origin' };
    expect((await createApi(server.url).send('/v1/session', { method: 'DELETE', headers })).status).toBe(204);
    await expectAuthExpired(reader, since);
  });
});

test('a session is kept by who has one, and not given anew', async () => {
  const { token } = await signUp('ann');
  const Cookie = await session(token);
  const own = { Cookie, 'Sec-Fetch-Site': 'same-origin' };
  const { status, headers } = await createApi(server.url).post('/v1/session', undefined, own);
  expect(status).toBe(200);
  expect(headers.get('Set-Cookie')).toBeNull();
});

test('who waits for something is not told of it once their token is revoked', async () => {
  const { id, api } = await signUp('ann');
  const task = await api.createTask({ agent: 'gated', input: 'revoked' });
  const reader = await api.openStream(`/v1/tasks/${task.id}/events`);
  await reader.until(({ data }) => data?.includes('gated.reached') ?? false);
  const waiting = api.get(`/v1/tasks/${task.id}?wait=60`);
  const polling = api.get('/v1/events?after=latest&wait=60', { Accept: 'application/json' });
  // Whatever was asked for before this is answered has been let in.
  await api.get('/v1/tasks');
  await revokeTokenOf(dataDir, id);

  const admin = (await signUp('ann')).api;
  await admin.createTask({ agent: 'opener', input: { gate: 'revoked', times: 1 } });
  for (const answer of [await waiting, await polling]) {
    expectProblem(answer, 401, 'unauthorized');
    expect(answer.headers.get('Holdfast-Cursor')).toBeNull();
  }
});

describe('a session', () => {
  test('is a cookie that pages cannot read and other sites do not cause to be sent', async () => {
    const { token } = await signUp('ann');
    const { headers, body } = await createApi(server.url, token).post<object>('/v1/session');
    const cookie = headers.get('Set-Cookie') ?? '';
    expect(cookie).toMatch(/^__Host-holdfast=hf_session_[\w-]{43}; /);
    for (const part of ['HttpOnly', 'Secure', 'SameSite=Strict', 'Path=/', 'Max-Age=43200']) {
      expect(cookie).toContain(part);
    }
    expect(cookie).not.toContain('Domain');
    expect(body).toMatchObject({ owner: 'ann', scopes: [...SCOPES], authentication: 'token' });
  });

  test('reads, and changes what a page of this server asks for, and nothing for any other', async () => {
    const { token } = await signUp('ann');
    const Cookie = await session(token);
    const api = createApi(server.url);
    const own = { Cookie, 'Sec-Fetch-Site': 'same-origin' };
    expect((await api.get('/v1/tasks', { Cookie })).status).toBe(200);
    expect((await api.post('/v1/tasks', { agent: 'echo' }, own)).status).toBe(202);
    expect((await api.post('/v1/tasks', { agent: 'echo' }, { Cookie, Origin: server.url })).status).toBe(202);

    expectProblem(await api.post('/v1/tasks', { agent: 'echo' }, { Cookie }), 401, 'unauthorized');
    const typed = { Cookie, 'Sec-Fetch-Site': 'none' };
    expect((await api.get('/v1/tasks', typed)).status).toBe(200);
    expectProblem(await api.post('/v1/tasks', { agent: 'echo' }, typed), 401, 'unauthorized');
    for (const site of ['cross-site', 'same-site']) {
      const foreign = { Cookie, 'Sec-Fetch-Site': site };
      expectProblem(await api.post('/v1/tasks', { agent: 'echo' }, foreign), 403, 'forbidden');
      expectProblem(await api.get('/v1/tasks', foreign), 403, 'forbidden');
    }
    const elsewhere = { Cookie, Origin: 'https://evil.example' };
    expectProblem(await api.post('/v1/tasks', { agent: 'echo' }, elsewhere), 403, 'forbidden');
  });
});
