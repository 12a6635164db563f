import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, createApi, expectProblem, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

const FRIEND = 'https://app.example.com';
const FOE = 'https://evil.example';

let server: ServerProcess;
let api: Api;

beforeAll(async () => {
  const flags = ['--allow-origin', FRIEND, '--allow-host', 'holdfast.internal'];
  server = await startServerProcess({ agents: TASK_AGENTS, flags });
  api = createApi(server.url);
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

/** The status line of a request with this Host, which `fetch` would not send. */
function statusFor(host: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('end', () => resolve(Number(text.split(' ')[1])));
    socket.on('error', reject);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
}

describe('without authentication', () => {
  test.each(['localhost', 'LOCALHOST:80', '127.0.0.1', '127.1.2.3:4747', '[::1]:4747', 'app.localhost', 'localhost.'])(
    'the server is called %s',
    async (host) => {
      expect(await statusFor(host, '/v1/tasks')).toBe(200);
    },
  );

  test('and as --allow-host says', async () => {
    expect(await statusFor('holdfast.internal:9000', '/v1/tasks')).toBe(200);
  });

  // The name of a page that points here: to its browser the two are of one origin.
  test.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    '[::2]',
    'evil.example:80',
  ])('it is not called %s', async (host) => {
    for (const path of ['/v1/tasks', '/v1/events', '/', '/metrics', '/openapi.json']) {
      expect(await statusFor(host, path), path).toBe(403);
    }
    expect(await statusFor(host, '/healthz')).toBe(200);
    expect(await statusFor(host, '/readyz')).toBe(200);
  });
});

describe('a page of another origin', () => {
  const ways: [string, Record<string, string>][] = [
    ['that says its origin', { Origin: FOE }],
    ['without an origin', { Origin: 'null' }],
    ['whose browser says so', { 'Sec-Fetch-Site': 'cross-site' }],
    ['of the same site', { 'Sec-Fetch-Site': 'same-site', Origin: 'http://127.0.0.1:1' }],
    ['on another port', { Origin: 'http://127.0.0.1:1' }],
  ];

  test.each(ways)('%s changes nothing, and reads nothing', async (_name, headers) => {
    expectProblem(await api.post('/v1/tasks', { agent: 'echo' }, headers), 403, 'forbidden');
    // What a form can send without being asked for.
    const form = { method: 'POST', body: '{"agent": "echo"}', headers: { ...headers, 'Content-Type': 'text/plain' } };
    expectProblem(await api.send('/v1/tasks', form), 403, 'forbidden');
    for (const path of ['/v1/tasks', '/v1/events', '/metrics']) {
      expectProblem(await api.get(path, headers), 403, 'forbidden');
    }
    expect((await api.get<{ items: object[] }>('/v1/tasks')).body.items).toEqual([]);
  });

  test('is told nothing of what it might read', async () => {
    for (const path of ['/v1/tasks', '/v1/none', '/healthz']) {
      const { headers } = await api.get(path, { Origin: FOE });
      expect(headers.get('Access-Control-Allow-Origin')).toBeNull();
      expect(headers.get('Access-Control-Allow-Credentials')).toBeNull();
    }
    const preflight = await api.send('/v1/tasks', {
      method: 'OPTIONS',
      headers: { Origin: FOE, 'Access-Control-Request-Method': 'POST' },
    });
    expect(preflight.headers.get('Access-Control-Allow-Origin')).toBeNull();
  });
});

describe('a page of an origin that is allowed', () => {
  const headers = { Origin: FRIEND, 'Sec-Fetch-Site': 'cross-site' };

  test('may ask, and read every answer, whatever its status', async () => {
    const answers = await Promise.all([
      api.get('/v1/tasks', headers),
      api.post('/v1/tasks', { agent: 'echo' }, headers),
      api.post('/v1/tasks', { agent: 'none' }, headers),
      api.post('/v1/tasks', '{', headers),
      api.get('/v1/tasks/task_0', headers),
      api.send('/v1/tasks', { method: 'PUT', headers }),
      api.get('/v1/none', headers),
      api.get('/v1/events?after=nonsense', headers),
      api.get('/v1/tasks/%20', headers),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 202, 422, 400, 404, 405, 404, 400, 404]);
    for (const answer of answers) {
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(FRIEND);
      expect(answer.headers.get('Vary')).toContain('Origin');
      expect(answer.headers.get('Access-Control-Expose-Headers')).toContain('Holdfast-Cursor');
      expect(answer.headers.get('Access-Control-Allow-Credentials')).toBeNull();
    }
  });

  test('may follow a stream', async () => {
    const response = await fetch(`${server.url}/v1/events`, { headers });
    expect(response.status).toBe(200);
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe(FRIEND);
    expect(response.headers.get('Content-Type')).toBe('text/event-stream');
    await response.body?.cancel();
  });

  test('is given no session of this server, whose pages are others', async () => {
    const answer = await api.post('/v1/session', undefined, headers);
    expectProblem(answer, 403, 'forbidden');
    expect(answer.headers.get('Set-Cookie')).toBeNull();
  });

  test('is told before what it may send', async () => {
    const preflight = await api.send('/v1/questions/qst_0/answers', {
      method: 'OPTIONS',
      headers: {
        ...headers,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('Access-Control-Allow-Methods')).toContain('POST');
    for (const name of ['Authorization', 'Content-Type', 'Idempotency-Key', 'Last-Event-ID']) {
      expect(preflight.headers.get('Access-Control-Allow-Headers')).toContain(name);
    }
  });
});
