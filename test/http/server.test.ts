import { EventEmitter, once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Operation } from '../../src/http/operation.ts';
import { type HttpServer, listen } from '../../src/http/server.ts';
import { openLimits } from '../support/open-limits.ts';
import { createAppDouble, TASK } from './app-double.ts';

const hanging = new EventEmitter();
const logger = pino({ level: 'silent' });
const limits = openLimits();
const double = createAppDouble([hangingOperation()]);
const { app } = double;
let server: HttpServer;

beforeAll(async () => {
  server = await listen(app, { host: '127.0.0.1', port: 0, logger, ...limits });
});
afterAll(() => server.close());

/** A response that begins, and ends when the test says so. */
function hangingOperation(): Operation {
  return {
    id: 'hang',
    method: 'get',
    path: '/hang',
    access: 'anyone',
    summary: 'Hangs',
    answers: { 200: { description: 'Hangs.' } },
    errors: [],
    handle(c) {
      let end = () => {};
      const body = new ReadableStream({
        start(controller) {
          end = () => controller.close();
          hanging.once('end', end);
          controller.enqueue(Buffer.from('begun'));
        },
        cancel: () => void hanging.off('end', end),
      });
      return c.body(body);
    },
  };
}

/** Sends bytes as they are and gives what came back until the server closed. */
async function raw(bytes: string, { end = false } = {}): Promise<string> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  if (end) socket.end(bytes);
  else socket.write(bytes);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

function problemIn(response: string): { status: number; code: string } {
  expect(response).toContain('application/problem+json');
  return JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4));
}

test('says where it listens', async () => {
  const response = await fetch(`${server.url}/healthz`);

  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(response.status).toBe(200);
});

test('rejects when the address is taken', async () => {
  const port = Number(new URL(server.url).port);

  await expect(listen(app, { host: '127.0.0.1', port, logger, ...limits })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
});

test.each([
  ['no HTTP at all', 'nonsense\r\n\r\n', 400],
  ['an unknown method', 'BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
  [
    'two lengths',
    'POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    400,
  ],
  ['a URL longer than the headers may be', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431],
  ['a Host that is none', 'GET / HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n', 400],
  ['a target that is no path', 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
  ['a backslash in the path', 'GET /v1\\tasks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
  ['a method for nothing here', 'TRACE /v1/tasks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 405],
  ['a malformed path', 'GET /v1/tasks/%zz%00 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 404],
])('answers %s with a problem', async (_, bytes, status) => {
  const response = await raw(bytes);

  expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(problemIn(response).status).toBe(status);
});

test('takes HTTP/1.0 without a Host, as health checks of old balancers send it', async () => {
  expect(await raw('GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
});

test('refuses a chunked body over the limit while it is still being sent', async () => {
  const upload = request(`${server.url}/v1/tasks`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' },
  });
  upload.on('error', () => {});
  upload.write(' '.repeat(300_000));

  const [response] = await once(upload, 'response');
  upload.destroy();

  expect(response.statusCode).toBe(413);
});

test.each(['Content-Length: 100\r\n\r\n{"agent":', 'Transfer-Encoding: chunked\r\n\r\n9\r\n{"agent":\r\n'])(
  'takes an upload that breaks off for no fault of its own: %j',
  async (rest) => {
    const head = 'POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

    await raw(`${head}${rest}`, { end: true });
    await fetch(`${server.url}/healthz`);

    expect(double.asked.created).toHaveLength(0);
    expect(
      double.logged.filter((line) => line.includes('"status":400') && line.includes('/v1/tasks"')),
    ).not.toHaveLength(0);
    expect(double.logged.filter((line) => line.includes('request failed'))).toHaveLength(0);
  },
);

test('takes a body of a declared length', async () => {
  const response = await fetch(`${server.url}/v1/tasks`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"agent":"echo","input":"ü"}',
  });

  expect(response.status).toBe(202);
  expect(double.asked.created.at(-1)?.input).toBe('ü');
});

test('keeps idle connections for longer than balancers do', async () => {
  const call = request(`${server.url}/healthz`, { headers: { Connection: 'keep-alive' } }).end();

  const [response] = await once(call, 'response');
  response.resume();

  expect(response.headers['keep-alive']).toBe('timeout=72');
});

test('survives clients that leave in the middle of anything', async () => {
  for (const path of ['/hang', '/v1/tasks?limit=1', '/healthz']) {
    const call = request(`${server.url}${path}`).end();
    call.on('error', () => {});
    if (path === '/hang') await once(call, 'response');
    call.destroy();
  }
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
});

test.each([
  ['GET', `/v1/tasks/${TASK.id}?wait=60`, ''],
  ['POST', '/v1/tasks?wait=60', '{"agent":"echo"}'],
])('ends the wait of a %s %s whose client leaves', async (method, path, body) => {
  double.holdsWaits = true;
  const begun = once(double.waits, 'wait');
  const call = request(`${server.url}${path}`, { method, headers: { 'Content-Type': 'application/json' } });
  call.on('error', () => {});
  call.end(body);
  await begun;
  const gone = once(double.waits, 'gone');

  call.destroy();

  await gone;
});

test('closes soon after the last response has ended, though its client would keep the connection', async () => {
  const closing = await listen(app, { host: '127.0.0.1', port: 0, logger, ...limits });
  const call = request(`${closing.url}/hang`, { agent: new Agent({ keepAlive: true }) }).end();
  const [response] = await once(call, 'response');
  response.resume();

  const closed = closing.close(60_000);
  hanging.emit('end');

  await closed;
});

test('closes at once though a client has connected and sent nothing, as browsers do ahead of need', async () => {
  const closing = await listen(app, { host: '127.0.0.1', port: 0, logger, ...limits });
  const silent = connect(Number(new URL(closing.url).port), '127.0.0.1');
  await once(silent, 'connect');
  await (await fetch(`${closing.url}/healthz`)).text();
  silent.resume();

  const ended = once(silent, 'close');
  await closing.close(60_000);

  await ended;
});

test('closes though connections idle, and cuts a response that does not end', async () => {
  const closing = await listen(app, { host: '127.0.0.1', port: 0, logger, ...limits });
  await (await fetch(`${closing.url}/healthz`)).text();
  const call = request(`${closing.url}/hang`).end();
  const [response] = await once(call, 'response');
  const cut = new Promise((resolve) => response.on('error', resolve));
  response.resume();

  await closing.close(10);

  expect(await cut).toMatchObject({ code: 'ECONNRESET' });
  await expect(fetch(`${closing.url}/healthz`)).rejects.toThrow();
});
