import { getEventListeners } from 'node:events';
import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { Waker } from '../../src/client/environment.ts';
import { createRequests, type Requests } from '../../src/client/requests/request.ts';
import { createRetrying } from '../../src/client/requests/retry.ts';
import { createTasks } from '../../src/client/requests/tasks.ts';
import { createApi } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { createHandWaker } from './hand-waker.ts';
import { type Answering, cut, html, json, problem, silence, startScriptedServer } from './scripted-server.ts';

/** Never lets anything wait for long. */
const impatient: Waker = {
  onWake(listener) {
    queueMicrotask(() => listener('network'));
    return () => {};
  },
};
const never = new AbortController().signal;

afterEach(() => {
  vi.useRealTimers();
});

function retryingTo(url: string, waker: Waker = impatient, closed = never): Requests {
  return createRetrying(createRequests({ url }, closed), waker, closed);
}

const send = (requests: Requests, signal = never) =>
  requests.send('POST', '/v1/x', { a: 1 }, { signal, idempotencyKey: 'key' });

test.each([
  ['a lost connection', cut, 'unreachable'],
  ['a captive portal', html(200), 'unreachable'],
  ['a proxy without its server', html(502), 'unreachable'],
  ['a server that stops', problem(503, 'draining', { 'Retry-After': '5' }), 'draining'],
  ['a limit', problem(429, 'rate_limited'), 'rate_limited'],
])('a read is tried three times for %s', async (_, answering, code) => {
  const server = await startScriptedServer(answering);

  await expect(retryingTo(server.url).read('/v1/x', {})).rejects.toMatchObject({ code });
  expect(server.heard).toHaveLength(3);
});

test('a read that is answered in the end is good, and takes about a second', async () => {
  const server = await startScriptedServer(cut, html(504), json(200, { good: true }));
  const waker = createHandWaker();
  const begin = performance.now();

  expect(await retryingTo(server.url, waker).read('/v1/x', {})).toMatchObject({ body: { good: true } });
  expect(performance.now() - begin).toBeGreaterThan(450);
  expect(performance.now() - begin).toBeLessThan(3000);
  expect(waker.size).toBe(0);
});

test.each([
  ['not_found', 404],
  ['invalid_request', 400],
  ['internal', 500],
])('a read that is refused with %s is not tried again', async (code, status) => {
  const server = await startScriptedServer(problem(status, code));

  await expect(retryingTo(server.url).read('/v1/x', {})).rejects.toMatchObject({ code });
  expect(server.heard).toHaveLength(1);
});

test('what changes something is tried until there is a definite answer, with the same key', async () => {
  const trouble = [cut, html(502), html(404), html(200), problem(503, 'storage_full'), problem(429, 'rate_limited')];
  const busy = problem(409, 'idempotency_in_progress');
  const server = await startScriptedServer(...trouble, busy, ...trouble, json(202, { good: true }));

  expect(await send(retryingTo(server.url))).toEqual({ good: true });
  expect(server.heard).toHaveLength(14);
  expect(new Set(server.heard.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set(['key']));
  expect(new Set(server.heard.map(({ body }) => body))).toEqual(new Set(['{"a":1}']));
});

test.each([
  ['question_resolved', 409],
  ['invalid_answer', 422],
  ['unauthorized', 401],
])('%s is a definite answer', async (code, status) => {
  const server = await startScriptedServer(cut, problem(status, code));

  await expect(send(retryingTo(server.url))).rejects.toMatchObject({ code, status });
  expect(server.heard).toHaveLength(2);
});

test('what the server itself cannot do is tried five times', async () => {
  const server = await startScriptedServer(cut, problem(500, 'internal'));

  await expect(send(retryingTo(server.url))).rejects.toMatchObject({ code: 'internal' });
  expect(server.heard).toHaveLength(6);
});

test('Retry-After is kept to', async () => {
  const server = await startScriptedServer(problem(503, 'draining', { 'Retry-After': '2' }), json(202, {}));
  const begin = performance.now();

  await send(retryingTo(server.url, createHandWaker()));

  expect(performance.now() - begin).toBeGreaterThan(1990);
});

test('waits grow to a quarter of a minute at most, and leave nothing behind', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const server = await startScriptedServer(...Array<Answering>(12).fill(cut), json(202, {}));
  const waker = createHandWaker();
  const sending = send(retryingTo(server.url, waker));

  for (let tries = 1; tries <= 12; tries++) {
    await waker.pauses();
    expect(server.heard).toHaveLength(tries);
    await vi.advanceTimersByTimeAsync(15_000);
  }

  expect(await sending).toEqual({});
  expect(waker.size).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test('a wait ends when it is woken', async () => {
  const server = await startScriptedServer(problem(503, 'draining', { 'Retry-After': '3600' }), json(202, {}));
  const waker = createHandWaker();
  const sending = send(retryingTo(server.url, waker));
  await waker.pauses();

  waker.wake();

  expect(await sending).toEqual({});
});

test('after it was woken the next wait is a short one again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const server = await startScriptedServer(...Array<Answering>(9).fill(cut), json(202, {}));
  const waker = createHandWaker();
  const sending = send(retryingTo(server.url, waker));
  for (let tries = 1; tries <= 8; tries++) {
    await waker.pauses();
    waker.wake();
    await server.hears(tries + 1);
  }
  await waker.pauses();

  await vi.advanceTimersByTimeAsync(1000);

  expect(await sending).toEqual({});
});

test.each(['signal', 'close'])('%s ends a wait, and no listener is left', async (by) => {
  const server = await startScriptedServer(problem(503, 'draining', { 'Retry-After': '3600' }));
  const [caller, closing] = [new AbortController(), new AbortController()];
  const waker = createHandWaker();
  const sending = send(retryingTo(server.url, waker, closing.signal), caller.signal);
  const refused = expect(sending).rejects.toMatchObject({ code: 'aborted' });
  await waker.pauses();

  (by === 'signal' ? caller : closing).abort();

  await refused;
  expect(waker.size).toBe(0);
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
  expect(getEventListeners(closing.signal, 'abort')).toEqual([]);
  expect(server.heard).toHaveLength(1);
});

test('it is given up before the server forgets the key', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const server = await startScriptedServer(cut, (response) => {
    vi.setSystemTime(Date.now() + 23 * 60 * 60_000);
    response.destroy();
  });

  await expect(send(retryingTo(server.url))).rejects.toMatchObject({ code: 'unreachable' });
  expect(server.heard).toHaveLength(2);
});

test('a server that asks to be left alone for longer than that is not waited for', async () => {
  const server = await startScriptedServer(problem(503, 'overloaded', { 'Retry-After': '99999999999' }));

  await expect(send(retryingTo(server.url, createHandWaker()))).rejects.toMatchObject({ code: 'overloaded' });
});

test('an end that cannot be heard of is an end: DELETE that is not found the second time has succeeded', async () => {
  const server = await startScriptedServer(cut, problem(404, 'not_found'), problem(404, 'not_found'));
  const requests = retryingTo(server.url);

  expect(await requests.send('DELETE', '/v1/x', undefined, {})).toEqual({});
  await expect(requests.send('DELETE', '/v1/x', undefined, {})).rejects.toMatchObject({ code: 'not_found' });
});

test('a connection that never answers counts as one that is lost', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const server = await startScriptedServer(silence, json(202, {}));
  const sending = send(retryingTo(server.url));
  await server.hears(1);

  await vi.advanceTimersByTimeAsync(30_000);

  expect(await sending).toEqual({});
});

let holdfast: ServerProcess;
beforeAll(async () => {
  holdfast = await startServerProcess({ agents: ['test/protocol/conversation-agents.ts'] });
});
afterAll(() => holdfast.stop());

/** Passes a request on to the real server, and loses what it answers. */
const doneAndLost: Answering = (response, { method, url, headers, body }) => {
  const { host: _, ...given } = headers;
  const passed = request(`${holdfast.url}${url}`, { method, headers: given }, (answer) => {
    answer.resume().on('end', () => response.destroy());
  });
  passed.end(body);
};

const passedOn: Answering = (response, { method, url, headers, body }) => {
  const { host: _, ...given } = headers;
  const passed = request(`${holdfast.url}${url}`, { method, headers: given }, (answer) => {
    response.writeHead(answer.statusCode ?? 0, answer.headers);
    answer.pipe(response);
  });
  passed.end(body);
};

test('a task whose 202 is lost is created once', async () => {
  const proxy = await startScriptedServer(doneAndLost, doneAndLost, passedOn);
  const tasks = createTasks(retryingTo(proxy.url));

  const task = await tasks.create({ agent: 'silent', input: { message: 'once', conversationId: null } });

  const { body } = await createApi(holdfast.url).get<{ items: { id: string }[] }>('/v1/tasks');
  expect(body.items.map(({ id }) => id)).toEqual([task.id]);
  expect(proxy.heard).toHaveLength(3);
  expect(new Set(proxy.heard.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
});
