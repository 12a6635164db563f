import { request } from 'node:http';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createEarlyRefusal } from '../../src/http/early-refusal.ts';
import type { Operation } from '../../src/http/operation.ts';
import { type HttpServer, listen } from '../../src/http/server.ts';
import { openLimits } from '../support/open-limits.ts';
import { createAppDouble, TASK } from './app-double.ts';

const double = createAppDouble();
const shared = { method: 'post', access: 'tasks:write', summary: '', answers: {}, errors: [] } as const;
const handle = () => new Response();
const operations: Operation[] = [
  { ...shared, id: 'a', path: '/v1/tasks', newWork: true, handle },
  { ...shared, id: 'b', path: '/v1/tasks/{taskId}/retry', newWork: true, handle },
  { ...shared, id: 'c', path: '/v1/tasks/{taskId}/cancel', handle },
];
let isRefusing = true;
let server: HttpServer;

beforeAll(async () => {
  const refuseEarly = createEarlyRefusal(operations, { refusesWork: () => isRefusing });
  const logger = pino({ level: 'silent' });
  server = await listen(double.app, { host: '127.0.0.1', port: 0, logger, ...openLimits(), refuseEarly });
});
afterAll(() => server.close());
beforeEach(() => {
  isRefusing = true;
});

/** @returns status and headers; the answer is read whole, so that the connection is used again */
function ask(method: string, path: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }>((resolve, reject) => {
    const asked = request(`${server.url}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
    });
    asked.on('error', reject);
    asked.on('response', (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    asked.end(method === 'POST' ? '{"agent":"echo"}' : undefined);
  });
}

test.each(['/v1/tasks', '/v1/tasks?wait=5', `/v1/tasks/${TASK.id}/retry`])(
  'refuses new work at %s in the form of all refusals, and says when to come back',
  async (path) => {
    const { status, headers, text } = await ask('POST', path, { 'X-Request-Id': 'mine-1' });

    expect(status).toBe(503);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(headers['x-request-id']).toBe('mine-1');
    expect(JSON.parse(text)).toMatchObject({
      status: 503,
      code: 'overloaded',
      detail: 'The server has too much to do and takes no new work at the moment.',
    });
  },
);

test('gives a request an id when it has none, or one that is malformed', async () => {
  expect((await ask('POST', '/v1/tasks')).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  expect((await ask('POST', '/v1/tasks', { 'X-Request-Id': 'a b' })).headers['x-request-id']).toMatch(
    /^[0-9a-f-]{36}$/,
  );
});

test('lets everything else through: reads, cancels, paths that only begin like new work', async () => {
  const statuses = [
    (await ask('GET', '/v1/tasks')).status,
    (await ask('POST', `/v1/tasks/${TASK.id}/cancel`)).status,
    (await ask('POST', '/v1/tasks/')).status,
    (await ask('POST', '/v1/tasksomething')).status,
  ];

  expect(statuses).toEqual([200, 400, 404, 404]);
});

test('lets new work through when there is not too much, and to the app what comes from a page', async () => {
  const made = double.asked.created.length;

  expect((await ask('POST', '/v1/tasks', { Origin: 'https://elsewhere.example' })).status).toBe(403);
  isRefusing = false;
  expect((await ask('POST', '/v1/tasks')).status).toBe(202);

  expect(double.asked.created).toHaveLength(made + 1);
});
