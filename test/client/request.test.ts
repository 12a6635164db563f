import { getEventListeners } from 'node:events';
import { setImmediate as macrotask } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import type { HoldfastError } from '../../src/client/error.ts';
import type { ClientOptions } from '../../src/client/options.ts';
import { createRequests } from '../../src/client/requests/request.ts';
import { retryAfterMs } from '../../src/client/requests/retry-after.ts';
import { cut, html, json, problem, silence, startScriptedServer } from './scripted-server.ts';

const never = new AbortController().signal;
const stream = { accept: 'text/event-stream', signal: never, ticketed: true };

afterEach(() => {
  vi.useRealTimers();
});

function requestsTo(url: string, options: Partial<ClientOptions> = {}, closed = never) {
  return createRequests({ url, ...options }, closed);
}

/** What a promise is rejected with. */
function failure(promise: Promise<unknown>): Promise<HoldfastError> {
  return promise.then(
    () => {
      throw new Error('It was not refused.');
    },
    (error) => error,
  );
}

test('a read gives the body and the cursor', async () => {
  const server = await startScriptedServer(json(200, { id: 'x' }, { 'Holdfast-Cursor': 'e.1' }));

  expect(await requestsTo(`${server.url}/prefix/`).read('/v1/x?a=1', {})).toEqual({ body: { id: 'x' }, cursor: 'e.1' });
  expect(server.heard[0]).toMatchObject({ method: 'GET', url: '/prefix/v1/x?a=1', body: '' });
});

test('what is sent is JSON with its key, and without a body it is nothing', async () => {
  const server = await startScriptedServer(json(200, { done: true }), (response) => response.writeHead(204).end());
  const requests = requestsTo(server.url);

  expect(await requests.send('POST', '/v1/x', { a: undefined, b: 1 }, { idempotencyKey: 'k' })).toEqual({ done: true });
  expect(await requests.send('DELETE', '/v1/x', undefined, {})).toEqual({});
  const [post, remove] = server.heard;
  expect(post).toMatchObject({ method: 'POST', body: '{"b":1}' });
  expect(post?.headers).toMatchObject({ 'content-type': 'application/json', 'idempotency-key': 'k' });
  expect(remove).toMatchObject({ method: 'DELETE', body: '' });
  expect(remove?.headers).not.toHaveProperty('content-type');
  expect(remove?.headers).not.toHaveProperty('idempotency-key');
});

test('a refusal is an error with everything that it tells', async () => {
  const more = { errors: [{ path: '/a', message: 'No.' }], question: { id: 'q' }, task: { id: 't' } };
  const gone = { reason: 'expired', resumeAfter: 'e.9' };
  const server = await startScriptedServer(problem(409, 'question_resolved', {}, { ...more, ...gone }));

  const error = await failure(requestsTo(server.url).read('/v1/x', {}));

  expect(error).toMatchObject({ name: 'HoldfastError', code: 'question_resolved', status: 409, ...more, ...gone });
  expect(error.message).toBe('It is question_resolved.');
});

test.each([
  ['a page of a captive portal', html(200), 'unreachable', 200],
  ['a page of a proxy', html(502), 'unreachable', 502],
  ['an error of somebody else', json(500, { error: 'x' }), 'unreachable', 500],
  ['a value that is no object', json(200, 'ok'), 'unreachable', 200],
  ['no answer', cut, 'unreachable', null],
  ['a proxy that wants to know who asks', html(401), 'unauthorized', 401],
  ['a proxy that forbids', html(403), 'forbidden', 403],
  ['a proxy that takes no large bodies', html(413), 'payload_too_large', 413],
])('%s is an error with a code of its own', async (_, answering, code, status) => {
  const server = await startScriptedServer(answering);

  expect(await failure(requestsTo(server.url).read('/v1/x', {}))).toMatchObject({ code, status });
});

test('an answer that is cut off in its middle is none', async () => {
  const server = await startScriptedServer((response) => {
    response.writeHead(200, { 'Content-Length': '100' });
    response.write('{"a":', () => response.destroy());
  });

  expect(await failure(requestsTo(server.url).read('/v1/x', {}))).toMatchObject({ code: 'unreachable', status: null });
});

test('a token goes with everything', async () => {
  const server = await startScriptedServer(json(200, {}));

  await requestsTo(server.url, { token: 'secret' }).read('/v1/x', {});

  expect(server.heard[0]?.headers).toMatchObject({ authorization: 'Bearer secret' });
});

test('a function is asked for a token once, and once more when that is refused', async () => {
  const isOld = (authorization?: string) => authorization === 'Bearer 1';
  const server = await startScriptedServer((response, heard) =>
    isOld(heard.headers.authorization)
      ? problem(401, 'unauthorized')(response, heard)
      : json(200, { by: heard.headers.authorization })(response, heard),
  );
  let asked = 0;
  const token = async () => {
    asked += 1;
    const given = `${asked}`;
    await macrotask();
    return given;
  };
  const requests = requestsTo(server.url, { token });

  const answers = await Promise.all([requests.read('/v1/x', {}), requests.read('/v1/y', {})]);
  const later = await requests.send('POST', '/v1/z', {}, {});

  expect(answers).toMatchObject([{ body: { by: 'Bearer 2' } }, { body: { by: 'Bearer 2' } }]);
  expect(later).toEqual({ by: 'Bearer 2' });
  expect(asked).toBe(2);
});

test('a token that is refused twice is an error, and the next request asks for another', async () => {
  const server = await startScriptedServer(problem(401, 'unauthorized'), problem(401, 'unauthorized'), json(200, {}));
  let asked = 0;
  const requests = requestsTo(server.url, { token: () => `${++asked}` });

  expect(await failure(requests.read('/v1/x', {}))).toMatchObject({ code: 'unauthorized', status: 401 });
  expect(server.heard).toHaveLength(2);
  await requests.read('/v1/x', {});
  expect(asked).toBe(3);
});

test('a token that is a string is not sent again', async () => {
  const server = await startScriptedServer(problem(401, 'unauthorized'));

  expect(await failure(requestsTo(server.url, { token: 'old' }).read('/v1/x', {}))).toMatchObject({ status: 401 });
  expect(server.heard).toHaveLength(1);
});

test('a function that fails to give a token is asked again by the next request', async () => {
  const server = await startScriptedServer(json(200, {}));
  let asked = 0;
  const token = async () => {
    asked += 1;
    if (asked === 1) throw new TypeError('No network.');
    return 'good';
  };
  const requests = requestsTo(server.url, { token });

  expect(await failure(requests.read('/v1/x', {}))).toMatchObject({
    code: 'unreachable',
    cause: { name: 'TypeError' },
  });
  expect(await requests.read('/v1/x', {})).toMatchObject({ body: {} });
});

test('a ticket goes with streams alone, and is renewed when it has run out', async () => {
  const server = await startScriptedServer(problem(401, 'unauthorized'), json(200, {}));
  let asked = 0;
  const requests = requestsTo(server.url, { ticket: () => `a b${++asked}` });

  await requests.open('/v1/events?after=0', stream);
  await requests.open('/v1/events', { ...stream, ticketed: false });

  const urls = ['/v1/events?after=0&ticket=a%20b1', '/v1/events?after=0&ticket=a%20b2', '/v1/events'];
  expect(server.heard.map(({ url }) => url)).toEqual(urls);
});

test('what is opened is any 2xx, and an error tells for how long to leave the server alone', async () => {
  const server = await startScriptedServer(
    (response) => response.writeHead(204).end(),
    problem(503, 'overloaded', { 'Retry-After': '2' }),
    problem(503, 'overloaded', { 'Retry-After': 'Wed, 21 Oct 2099 07:28:00 GMT' }),
    problem(503, 'overloaded', { 'Retry-After': 'soon' }),
  );
  const requests = requestsTo(server.url);

  expect((await requests.open('/v1/events', stream)).status).toBe(204);
  const seconds = await failure(requests.open('/v1/events', stream));
  expect(seconds).toMatchObject({ code: 'overloaded', status: 503 });
  expect(retryAfterMs(seconds)).toBe(2000);
  expect(retryAfterMs(await failure(requests.open('/v1/events', stream)))).toBeGreaterThan(1e12);
  expect(retryAfterMs(await failure(requests.open('/v1/events', stream)))).toBe(0);
});

test('the signal of what is opened ends its body as well', async () => {
  const server = await startScriptedServer((response) => response.writeHead(200).write('begin'));
  const controller = new AbortController();
  const response = await requestsTo(server.url).open('/v1/events', { ...stream, signal: controller.signal });
  const reader = response.body?.getReader();
  await reader?.read();

  controller.abort();

  await expect(reader?.read()).rejects.toThrow();
});

test.each(['signal', 'close'])('%s ends a request that is under way, and no listener is left', async (by) => {
  const server = await startScriptedServer(silence);
  const [caller, closing] = [new AbortController(), new AbortController()];
  const requests = requestsTo(server.url, {}, closing.signal);
  const { signal } = caller;
  const reading = failure(requests.read('/v1/x', { signal }));
  const opening = failure(requests.open('/v1/events', { ...stream, signal }));
  await server.hears(2);

  (by === 'signal' ? caller : closing).abort();

  expect(await reading).toMatchObject({ code: 'aborted', status: null });
  expect(await opening).toMatchObject({ code: 'aborted', status: null });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(getEventListeners(closing.signal, 'abort')).toEqual([]);
});

test('a request whose signal has aborted is not sent', async () => {
  const server = await startScriptedServer(json(200, {}));

  expect(await failure(requestsTo(server.url).read('/v1/x', { signal: AbortSignal.abort() }))).toMatchObject({
    code: 'aborted',
  });
  expect(server.heard).toEqual([]);
});

test.each([
  ['/v1/x', 30_000],
  ['/v1/x?wait=20', 50_000],
])('%s that gets no answer within %i ms has failed, and no timer is left', async (path, ms) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const server = await startScriptedServer(silence);
  let isOver = false;
  const failing = failure(requestsTo(server.url).read(path, {})).finally(() => {
    isOver = true;
  });
  await server.hears(1);

  await vi.advanceTimersByTimeAsync(ms - 1);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);

  expect(await failing).toMatchObject({ code: 'unreachable', status: null });
});

test('an answer whose body stops to come has failed as well', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const server = await startScriptedServer((response) => response.writeHead(200).write('{'));
  let onAnswer: () => void = () => {};
  const answered = new Promise<void>((resolve) => {
    onAnswer = resolve;
  });
  const listening: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    onAnswer();
    return response;
  };
  const failing = failure(requestsTo(server.url, { fetch: listening }).read('/v1/x', {}));
  await answered;

  await vi.advanceTimersByTimeAsync(120_000);

  expect(await failing).toMatchObject({ code: 'unreachable', status: null });
});
