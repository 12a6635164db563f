import { once } from 'node:events';
import http from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPage } from '../support/log-pages.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { createStreamClient, EVERYTHING, pathOf, STREAM_AGENTS, type StreamClient } from './stream-client.ts';

let server: ServerProcess;
let client: StreamClient;
let waiting: string;
let over: string;

beforeAll(async () => {
  server = await startServerProcess({ agents: STREAM_AGENTS });
  client = createStreamClient(server.url);
  waiting = pathOf(await client.play({ op: 'ask' }));
  over = pathOf(await client.playOut());
});
afterAll(() => server.stop());

const STREAM = 'text/event-stream';
const JSON_PAGE = 'application/json';

describe('§5.1 the form of the answer', () => {
  test.each([
    [undefined, STREAM],
    ['', STREAM],
    ['*/*', STREAM],
    ['text/event-stream', STREAM],
    ['text/html', STREAM],
    ['text/*', STREAM],
    ['application/json, text/event-stream', STREAM],
    ['application/json, */*', STREAM],
    ['application/json;q=0.5, text/event-stream;q=0.5', STREAM],
    ['application/json;q=0.4, text/event-stream;q=0.5', STREAM],
    ['application/json;q=0.4, */*;q=0.5', STREAM],
    ['application/json;q=0', STREAM],
    ['application/json', JSON_PAGE],
    ['Application/JSON', JSON_PAGE],
    ['application/json; charset=utf-8', JSON_PAGE],
    ['application/*', JSON_PAGE],
    ['application/json, text/event-stream;q=0.9', JSON_PAGE],
    ['text/event-stream;q=0.1 , application/json ; q=0.2', JSON_PAGE],
    ['application/json, */*;q=0.1', JSON_PAGE],
    ['application/json, text/plain, */*;q=0.8', JSON_PAGE],
  ])('for Accept %j is %s', async (accept, form) => {
    const response = await getWithAccept(`${server.url}${waiting}`, accept);

    expect(response).toEqual({ status: 200, type: form });
  });

  test('is kept by no cache', async () => {
    const page = await fetch(`${server.url}${waiting}`, { headers: { Accept: JSON_PAGE } });

    expect(page.headers.get('Cache-Control')).toBe('no-store');
  });
});

describe('§5.3 the headers of a stream', () => {
  test('forbid caching, buffering and encoding, also when the client could decode', async () => {
    const reader = await client.open(waiting, '', { 'Accept-Encoding': 'gzip, br' });

    const { headers } = reader.response;
    expect(headers.get('Content-Type')).toBe('text/event-stream');
    expect(headers.get('Cache-Control')).toBe('no-store, no-transform');
    expect(headers.get('X-Accel-Buffering')).toBe('no');
    expect(headers.get('Content-Encoding')).toBeNull();
    reader.close();
  });
});

describe('§5.1 HEAD', () => {
  const names = ['Content-Type', 'Cache-Control', 'X-Accel-Buffering', 'Content-Encoding'];

  test('has the headers of GET, no body, and opens no stream', async () => {
    const reader = await client.open(waiting);
    const openBefore = await openStreams();

    const head = await fetch(`${server.url}${waiting}`, { method: 'HEAD' });

    expect(head.status).toBe(200);
    expect(names.map((name) => head.headers.get(name))).toEqual(names.map((name) => reader.response.headers.get(name)));
    expect(await head.text()).toBe('');
    expect(await openStreams()).toBe(openBefore);
    reader.close();
  });

  test('of a page does not wait', async () => {
    const url = `${server.url}${waiting}?after=latest&wait=60`;

    const head = await fetch(url, { method: 'HEAD', headers: { Accept: JSON_PAGE } });

    expect(head.status).toBe(200);
    expect(head.headers.get('Content-Type')).toBe(JSON_PAGE);
    expect(await head.text()).toBe('');
  });

  test('answers as GET would: 204 behind the end, 400, 404 (§5.4)', async () => {
    const { cursor } = await readPage(client, over, '');
    const head = (path: string) => fetch(`${server.url}${path}`, { method: 'HEAD' });

    expect((await head(`${over}?after=${cursor}`)).status).toBe(204);
    expect((await head(`${over}?after=0`)).status).toBe(200);
    expect((await head(`${over}?after=nonsense`)).status).toBe(400);
    expect((await head('/v1/tasks/task_00000000000000000000000000/events')).status).toBe(404);
  });
});

describe('§10 holdfast_streams_open', () => {
  test('returns to zero when all clients have left', async () => {
    const readers = await Promise.all([waiting, EVERYTHING, waiting].map((path) => client.open(path)));
    for (const reader of readers) await reader.next();
    expect(await openStreams()).toBeGreaterThanOrEqual(3);

    for (const reader of readers) reader.close();

    await expect.poll(openStreams, { timeout: 10_000 }).toBe(0);
  });
});

/** `fetch` always sends an Accept of its own; this sends just what it is given. */
async function getWithAccept(
  url: string,
  accept: string | undefined,
): Promise<{ status: number | undefined; type: string | undefined }> {
  const sent = http.get(url, { agent: false, headers: accept === undefined ? {} : { accept } });
  const [response]: http.IncomingMessage[] = await once(sent, 'response');
  sent.on('error', () => {});
  sent.destroy();
  return { status: response?.statusCode, type: response?.headers['content-type'] };
}

async function openStreams(): Promise<number> {
  const metrics = await fetch(`${server.url}/metrics`).then((response) => response.text());
  return Number(/^holdfast_streams_open (\d+)$/m.exec(metrics)?.[1]);
}
