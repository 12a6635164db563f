import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Hono } from 'hono';
import { pino } from 'pino';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createStreams } from '../../src/engine/streams.ts';
import type { Tasks } from '../../src/engine/tasks.ts';
import { eventOperations } from '../../src/http/events.ts';
import { createOpenStreams } from '../../src/http/open-streams.ts';
import { type Gate, type HttpApp, type HttpEnv, mount } from '../../src/http/operation.ts';
import { sendProblem } from '../../src/http/problem.ts';
import { listen } from '../../src/http/server.ts';
import { byeBlock, openSse, type SseCallbacks } from '../../src/http/sse.ts';
import { HoldfastError } from '../../src/model/error.ts';
import { allDone, openPublishedStore, turn } from '../engine/published-store.ts';
import { openAccess } from '../support/open-access.ts';
import { openLimits } from '../support/open-limits.ts';
import { isNamed, openSseReader } from '../support/sse-reader.ts';

/**
 * What the protocol says by the clock, in this process, where the clock can be moved. Sockets keep their own time: only
 * the timers of the code under test are the test's.
 */
const closing: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

/** One open connection of an in-process server, and what its callbacks were told. */
async function openConnection(callbacks: Partial<SseCallbacks> = {}) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  const told: string[] = [];
  const server = http.createServer((_request, response) => {
    const connection = openSse(
      response,
      {},
      {
        onWritable: () => told.push('writable'),
        onKeepalive: () => told.push('keepalive'),
        onMaxAge() {
          told.push('max-age');
          connection.finish(byeBlock('max-age'));
        },
        onClose: () => told.push('close'),
        ...callbacks,
      },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  const request = http.get({ port: (server.address() as AddressInfo).port, agent: false });
  const [response]: http.IncomingMessage[] = await once(request, 'response');
  if (response === undefined) throw new Error('There was no response.');
  let text = '';
  response.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  async function until(part: string): Promise<string> {
    while (!text.includes(part)) await once(response as http.IncomingMessage, 'data');
    return text;
  }
  return { told, until, request, response, text: () => text };
}

describe('§5.3 keepalive', () => {
  test('is the line `: hb` with a single newline, every 15 s, and no sooner', async () => {
    const connection = await openConnection();
    await connection.until('retry: ');

    vi.advanceTimersByTime(14_999);
    const before = [...connection.told];
    vi.advanceTimersByTime(1);
    await connection.until(': hb\n');
    vi.advanceTimersByTime(30_000);
    const text = await connection.until(': hb\n: hb\n: hb\n');

    expect(before).toEqual([]);
    expect(text).toMatch(/^: ok\nretry: \d+\n: hb\n: hb\n: hb\n$/);
    expect(connection.told).toEqual(['keepalive', 'keepalive', 'keepalive']);
  });

  test('stops, with every other timer, when the client has gone', async () => {
    const connection = await openConnection();
    await connection.until('retry: ');
    expect(vi.getTimerCount()).toBe(2);

    connection.request.destroy();
    while (connection.told.length === 0) await turn();

    expect(connection.told).toEqual(['close']);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('§5.3 bye', () => {
  test('says `max-age` after 30 minutes ± 20 %', async () => {
    const connection = await openConnection();
    await connection.until('retry: ');

    vi.advanceTimersByTime(24 * 60_000 - 1);
    const early = connection.told.includes('max-age');
    vi.advanceTimersByTime(12 * 60_000 + 1);
    await once(connection.response, 'end');

    expect(early).toBe(false);
    expect(connection.told.filter((each) => each !== 'keepalive')).toEqual(['max-age', 'close']);
    expect(connection.text()).toMatch(/\nevent: bye\nretry: [1-5]\d{3}\ndata: \{"reason":"max-age"\}\n\n$/);
  });

  test('has a long jittered `retry:` where the server is overloaded', () => {
    const retries = Array.from({ length: 50 }, () => Number(/retry: (\d+)\n/.exec(byeBlock('overloaded'))?.[1]));

    expect(Math.min(...retries)).toBeGreaterThanOrEqual(10_000);
    expect(Math.max(...retries)).toBeLessThanOrEqual(30_000);
    expect(new Set(retries).size).toBeGreaterThan(30);
  });
});

/** The streams over a real store, without workers. */
const asAnn: Gate = {
  async admit(c) {
    c.set('principal', { owner: 'ann', scopes: ['tasks:read'], credential: { kind: 'none' }, expiresAt: null });
  },
  async admitAgain() {},
};

async function noConversation(): Promise<never> {
  throw new HoldfastError('not_found', 'There is no such conversation.');
}

async function serveStreams() {
  const engine = openPublishedStore();
  const record: Tasks['record'] = async (owner, id) => {
    const task = await engine.store.task(owner, id);
    if (task === null) throw new HoldfastError('not_found', 'There is no such task.');
    return task;
  };
  const troubles: unknown[] = [];
  const open = createOpenStreams(() => {});
  const limits = openLimits();
  const operations = eventOperations({
    streams: createStreams(
      engine.store,
      engine.hub,
      { record },
      { record: noConversation },
      new AbortController().signal,
    ),
    open,
    held: limits.held,
    hold: openAccess().hold,
    onTrouble: (error) => troubles.push(error),
  });
  const app: HttpApp = new Hono<HttpEnv>();
  mount(app, operations, asAnn);
  app.onError((error, c) => sendProblem(c, error instanceof HoldfastError ? error : new HoldfastError('internal', '')));
  const server = await listen(app, { host: '127.0.0.1', port: 0, logger: pino({ level: 'silent' }), ...limits });
  closing.push(
    () => engine.store.close(),
    () => server.close(0),
  );
  return { ...engine, url: server.url, open, troubles };
}

describe('§5.3 caught-up of a filtered stream', () => {
  test('comes again when its position has moved without an event, at most once a minute', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const { url, ann, store } = await serveStreams();
    const task = await ann.start();
    const reader = await openSseReader(`${url}/v1/events?types=never.sent`);
    const first = await reader.until(isNamed('caught-up'));

    await ann.append(task);
    await allDone();
    vi.advanceTimersByTime(60_000);
    const second = await reader.until(isNamed('caught-up'));
    await ann.append(task);
    await allDone();
    vi.advanceTimersByTime(45_000);
    await ann.append(task);
    await allDone();
    vi.advanceTimersByTime(15_000);
    const third = await reader.until(isNamed('caught-up'));

    const ids = [first, second, third].map(({ id }) => id);
    expect(ids).toEqual([2, 3, 5].map((seq) => `${store.epoch}.${seq}`));
    expect(JSON.parse(third.data ?? '')).toEqual({ cursor: ids[2] });
    expect(reader.blocks).toHaveLength(3);
    reader.close();
  });

  test('does not come again where nothing has moved', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const { url, ann } = await serveStreams();
    const task = await ann.start();
    const reader = await openSseReader(`${url}/v1/events`);
    await reader.until(isNamed('caught-up'));

    vi.advanceTimersByTime(10 * 60_000);
    await ann.append(task);
    const next = await reader.next();

    expect(next).toMatchObject({ event: null, id: expect.stringMatching(/\.3$/) });
    reader.close();
  });
});

describe("§5.5 the server's own trouble", () => {
  test.each(['/v1/events', '/v1/tasks/task_00000000000000000000000000/events'])(
    'is 200 and `bye overloaded` on %s when the storage cannot be read, never a 5xx',
    async (path) => {
      const { url, store, troubles } = await serveStreams();
      await store.close();

      const { response, rest } = await openSseReader(`${url}${path}?after=0`);
      const blocks = await rest();

      expect(response.status).toBe(200);
      expect(blocks).toEqual([expect.objectContaining({ event: 'bye', data: '{"reason":"overloaded"}', id: null })]);
      expect(Number(blocks[0]?.retry)).toBeGreaterThanOrEqual(10_000);
      expect(troubles).toHaveLength(1);
    },
  );

  test('ends a stream in the middle with `bye overloaded`, after what it had read', async () => {
    const { url, store, ann, unheard, troubles } = await serveStreams();
    const task = await ann.start();
    const reader = await openSseReader(`${url}/v1/events?after=0`);
    await reader.until(isNamed('caught-up'));

    await unheard.append(task);
    await ann.append(task);
    await store.close();
    const rest = await reader.rest();

    expect(rest.map(({ event }) => event)).toEqual(['bye']);
    expect(troubles).toHaveLength(1);
  });

  test('says `bye drain` to a stream that is opened while the server stops', async () => {
    const { url, open } = await serveStreams();

    open.close('drain');
    const reader = await openSseReader(`${url}/v1/events`);

    expect(await reader.rest()).toEqual([expect.objectContaining({ event: 'bye', data: '{"reason":"drain"}' })]);
  });
});
