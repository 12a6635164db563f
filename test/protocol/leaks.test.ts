import { readdirSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

const AT_ONCE = 100;
const ABORTED_WITHIN_MS = 30;

const KINDS = ['descriptors', 'streams', 'handles', 'resources'] as const;
type Counts = Record<(typeof KINDS)[number], number>;

/** docs/protocol.md §10: what clients had opened is gone when they are. */
describe('Streams, timers and descriptors', () => {
  let server: ServerProcess;
  let api: Api;
  let paths: string[];

  beforeAll(async () => {
    server = await startServerProcess({ agents: ['test/protocol/load-agents.ts'] });
    api = createApi(server.url);
    const waiting = await api.run('closer', { before: 300 });
    const over = await api.run('ticker', { count: 300 });
    paths = [`/v1/tasks/${waiting.id}/events`, '/v1/events', `/v1/tasks/${over.id}/events`];
    // Whatever is opened once and kept shall be open before anything is counted.
    await abortConnections(300);
    await sendHeads(50);
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).toBe('');
  });

  test('return to their baseline after 2,000 connections aborted in their first 30 ms', async () => {
    const baseline = await settledCounts();

    await abortConnections(2000);

    await expect.poll(() => countsAbove(baseline), { timeout: 20_000, interval: 100 }).toEqual([]);
    expect(server.stderr()).toBe('');
  });

  test('return to their baseline after 500 HEADs, which hold nothing open', async () => {
    const baseline = await settledCounts();

    const statuses = await sendHeads(500);

    await expect.poll(() => countsAbove(baseline), { timeout: 20_000, interval: 100 }).toEqual([]);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(server.stderr()).toBe('');
  });

  test('belong to a process that serves on as before', async () => {
    await abortConnections(200);

    const { id, status } = await api.run('ticker', { count: 10 });

    expect(status).toBe('completed');
    expect((await api.eventsOf(id)).filter(({ type }) => type === 'load.tick')).toHaveLength(10);
    expect(readdirSync('/proc')).toContain(`${server.pid}`);
    expect(server.stderr()).toBe('');
  });

  /** What the warm-up has left behind goes first. */
  async function settledCounts(): Promise<Counts> {
    await expect.poll(async () => (await counts()).streams, { timeout: 20_000 }).toBe(0);
    let last = await counts();
    for (let same = 0; same < 5; ) {
      const now = await counts();
      same = JSON.stringify(now) === JSON.stringify(last) ? same + 1 : 0;
      last = now;
    }
    return last;
  }

  async function countsAbove(baseline: Counts): Promise<string[]> {
    const now = await counts();
    const above = KINDS.filter((kind) => now[kind] > baseline[kind]);
    return above.map((kind) => `${now[kind]} ${kind}, of ${baseline[kind]} before`);
  }

  /** What the server holds open, one connection for the asking included. */
  async function counts(): Promise<Counts> {
    const text = await new Promise<string>((resolve, reject) => {
      const request = http.get(`${server.url}/metrics`, { agent: false }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          body += chunk;
        });
        response.on('end', () => resolve(body));
      });
      request.on('error', reject);
    });
    const value = (name: string) => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1]);
    return {
      descriptors: readdirSync(`/proc/${server.pid}/fd`).length,
      streams: value('holdfast_streams_open'),
      handles: value('nodejs_active_handles_total'),
      resources: value('nodejs_active_resources_total'),
    };
  }

  async function abortConnections(count: number): Promise<void> {
    for (let from = 0; from < count; from += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => abortOne(from + index)));
    }
  }

  /** A connection of one of several kinds, ended within 30 ms of its beginning, in one of two ways. */
  function abortOne(index: number): Promise<void> {
    const { hostname, port } = new URL(server.url);
    const request = requestOf(index);
    return new Promise((resolve) => {
      const socket = net.connect(Number(port), hostname);
      socket.on('connect', () => socket.write(request.slice(0, index % 11 === 0 ? request.length / 2 : undefined)));
      // To be refused or reset is a way to end, too.
      socket.on('error', () => {});
      socket.on('close', () => resolve());
      // One in five reads nothing until it goes, so that its end is a reset with bytes on the way.
      if (index % 5 !== 0) socket.resume();
      setTimeout(
        () => (index % 2 === 0 ? socket.destroy() : socket.resetAndDestroy()),
        Math.random() * ABORTED_WITHIN_MS,
      );
    });
  }

  function requestOf(index: number): string {
    const path = paths[index % paths.length] ?? '/v1/events';
    const head = (target: string, accept: string) =>
      `GET ${target} HTTP/1.1\r\nHost: localhost\r\nAccept: ${accept}\r\n\r\n`;
    if (index % 7 === 0) return head('/v1/events?after=latest&wait=30', 'application/json');
    if (index % 7 === 1) return head(`${path}?types=question.*`, 'text/event-stream');
    // The second one waits behind the first, which does not end.
    if (index % 7 === 2) return head('/v1/events', 'text/event-stream').repeat(2);
    return head(path, 'text/event-stream');
  }

  async function sendHeads(count: number): Promise<(number | undefined)[]> {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 20 });
    const statuses = await Promise.all(
      Array.from({ length: count }, (_, index) => sendHead(`${server.url}${paths[index % paths.length]}`, agent)),
    );
    agent.destroy();
    return statuses;
  }

  function sendHead(url: string, agent: http.Agent): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const request = http.request(url, { method: 'HEAD', agent }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      });
      request.on('error', reject);
      request.end();
    });
  }
});
