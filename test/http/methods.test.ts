import { expect, test } from 'vitest';
import { createAppDouble, post, send, TASK } from './app-double.ts';

const { app, logged } = createAppDouble();

test.each([
  ['DELETE', '/v1/tasks', 'POST, GET, HEAD, OPTIONS'],
  ['PUT', `/v1/tasks/${TASK.id}`, 'GET, HEAD, OPTIONS'],
  ['GET', `/v1/tasks/${TASK.id}/cancel`, 'POST, OPTIONS'],
  ['HEAD', `/v1/tasks/${TASK.id}/cancel`, 'POST, OPTIONS'],
  ['GET', `/v1/tasks/${TASK.id}/retry`, 'POST, OPTIONS'],
  ['PROPFIND', '/v1/agents', 'GET, HEAD, OPTIONS'],
  ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
  ['PATCH', '/docs', 'GET, HEAD, OPTIONS'],
])('refuses %s %s and allows %s', async (method, path, allow) => {
  const response = await send(app, path, { method });

  expect(response.status).toBe(405);
  expect(response.headers.get('Allow')).toBe(allow);
});

test('answers OPTIONS with what a path takes', async () => {
  const response = await send(app, '/v1/tasks', { method: 'OPTIONS' });

  expect(response.status).toBe(204);
  expect(response.headers.get('Allow')).toBe('POST, GET, HEAD, OPTIONS');
});

test.each([
  '/v1/tasks',
  `/v1/tasks/${TASK.id}`,
  '/v1/questions',
  '/v1/agents',
  '/healthz',
  '/metrics',
  '/openapi.json',
  '/docs',
])('answers HEAD %s as GET, without the body', async (path) => {
  const get = await send(app, path);
  const head = await send(app, path, { method: 'HEAD' });

  expect(head.status).toBe(200);
  expect(await head.text()).toBe('');
  expect(head.headers.get('Content-Type')).toBe(get.headers.get('Content-Type'));
});

test('names the place in the log on every read and verb, and forbids caching', async () => {
  for (const response of [
    await send(app, '/v1/tasks'),
    await send(app, `/v1/tasks/${TASK.id}`),
    await post(app, '/v1/tasks', { agent: 'echo' }),
    await post(app, `/v1/tasks/${TASK.id}/cancel`, {}),
    await post(app, `/v1/tasks/${TASK.id}/retry`, {}),
  ]) {
    expect(response.headers.get('Holdfast-Cursor')).toBe('abcdefgh.7');
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    expect(response.headers.get('Content-Type')).toBe('application/json');
  }
});

test('lists agents', async () => {
  const response = await send(app, '/v1/agents');

  expect(await response.json()).toEqual({
    items: [{ name: 'echo', description: 'Says it again.', version: '1', inputSchema: null }],
  });
});

test('is ready only when the server says so, and alive in any case', async () => {
  const double = createAppDouble();
  double.isReady = false;

  expect((await send(double.app, '/readyz')).status).toBe(503);
  expect((await send(double.app, '/healthz')).status).toBe(200);
  double.isReady = true;
  expect((await send(double.app, '/readyz')).status).toBe(200);
});

test('logs a request by its path, without the query, under the id that the client is given', async () => {
  const response = await send(app, '/v1/tasks?limit=5&status=failed', { headers: { 'X-Request-Id': 'mine' } });

  expect(response.headers.get('X-Request-Id')).toBe('mine');
  const line = JSON.parse(logged.at(-1) ?? '');
  expect(line).toMatchObject({
    requestId: 'mine',
    method: 'GET',
    path: '/v1/tasks',
    status: 200,
    ms: expect.any(Number),
  });
  expect(logged.at(-1)).not.toContain('failed');
});

test('counts requests by the pattern of their path, and leaves waits out of the latencies', async () => {
  const fresh = createAppDouble();
  await send(fresh.app, `/v1/tasks/${TASK.id}`);
  await send(fresh.app, `/v1/tasks/${TASK.id}?wait=1`);
  await send(fresh.app, '/nowhere/in/particular');
  await send(fresh.app, '/v1/tasks', { method: 'DELETE' });

  const text = await (await send(fresh.app, '/metrics')).text();

  expect(text).toContain('holdfast_http_requests_total{route="/v1/tasks/:taskId",method="GET",status="200"} 2');
  expect(text).toContain('holdfast_http_requests_total{route="none",method="GET",status="404"} 1');
  expect(text).toContain('holdfast_http_requests_total{route="/v1/tasks",method="DELETE",status="405"} 1');
  expect(text).toContain('holdfast_http_request_duration_seconds_count{route="/v1/tasks/:taskId",method="GET"} 1');
  expect(text).toContain('holdfast_streams_open 0');
  expect(text).toContain('process_cpu_seconds_total');
});
