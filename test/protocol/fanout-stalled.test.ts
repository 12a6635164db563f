import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type http from 'node:http';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { readLog } from '../support/log-pages.ts';
import { expectExactly } from '../support/master-check.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { openSocketReader } from '../support/socket-reader.ts';
import { isSignal } from '../support/sse-reader.ts';

const STALLED = 20;
const MEBIBYTE = 1024 * 1024;

/** docs/protocol.md §5.3: a reader that takes nothing for 10 s is cut off. */
describe('Of readers of a log of 24 MB', () => {
  let server: ServerProcess;
  let api: Api;
  let path: string;

  beforeAll(async () => {
    server = await startServerProcess({ agents: ['test/protocol/load-agents.ts'] });
    api = createApi(server.url);
    const { id } = await api.run('ticker', { count: 400, padBytes: 60_000 });
    path = `/v1/tasks/${id}/events`;
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).toBe('');
  });

  test('twenty that take nothing are cut off, having delayed nobody and cost the server little memory', async () => {
    await openSocketReader(`${server.url}${path}`).closed;
    const residentBefore = residentBytes();
    const stalledAt = performance.now();
    const sockets = await Promise.all(Array.from({ length: STALLED }, openStalled));
    const { id } = await api.createTask({ agent: 'ticker', input: { count: 200, everyMs: 50 } });
    const delaysMs: number[] = [];
    let residentMost = 0;

    const reader = openSocketReader(`${server.url}/v1/tasks/${id}/events`, {
      onBlock(block) {
        residentMost = Math.max(residentMost, residentBytes());
        if (!isSignal(block)) delaysMs.push(Date.now() - Date.parse(JSON.parse(block.data ?? '').at));
      },
    });
    const ending = await reader.closed;
    await expect.poll(streamsOpen, { timeout: 30_000, interval: 250 }).toBe(0);
    const stalledForMs = performance.now() - stalledAt;

    expect(ending).toBe('over');
    expect(delaysMs).toHaveLength(203);
    // Not every one: the machine has other work, which may hold up one event in ten.
    expect(delaysMs.sort((a, b) => a - b)[180]).toBeLessThan(200);
    expect(residentMost - residentBefore).toBeLessThan(100 * MEBIBYTE);
    expect(stalledForMs).toBeGreaterThan(10_000);
    for (const socket of sockets) expect(await rest(socket)).not.toContain('event: end');
  }, 90_000);

  describe.concurrent('and of others meanwhile', () => {
    test('one that takes a little at a time is not cut off, however long it takes', async () => {
      const reader = openSocketReader(`${server.url}${path}`);
      const response = await reader.opened;
      const startedAt = performance.now();

      for await (const _ of pauses(response, 1000)) if (performance.now() - startedAt > 15_000) break;
      const takenSlowly = reader.blocks.length;
      response.resume();

      expect(await reader.closed).toBe('over');
      expect(takenSlowly).toBeLessThan(100);
      expectExactly([reader.blocks], await readLog(api, path));
    }, 60_000);

    test('those of a task that waits are sent `: hb` after 15 s, with a single newline and nothing else', async () => {
      const { id } = await api.run('closer', {});
      const paths = [`/v1/tasks/${id}/events`, '/v1/events?after=latest'];
      const idle = await Promise.all(paths.map((each) => openIdle(`${server.url}${each}`)));

      const keptAlive = await Promise.all(idle.map(({ next }) => next()));

      await api.cancel(id);
      const behind = await Promise.all(idle.map(({ next }) => next()));
      for (const { text, afterMs } of keptAlive) {
        expect(text).toBe(': hb\n');
        expect(afterMs).toBeGreaterThan(14_000);
        expect(afterMs).toBeLessThan(17_000);
      }
      for (const { text } of behind) expect(text).toMatch(/^data: /);
      for (const { close } of idle) close();
    });
  });

  /** A connection that asks for the log and never reads. */
  function openStalled(): Promise<net.Socket> {
    const { hostname, port } = new URL(server.url);
    const socket = net.connect({ host: hostname, port: Number(port) });
    socket.pause();
    return new Promise((resolve, reject) => {
      socket.on('error', reject);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`, () => resolve(socket));
    });
  }

  function residentBytes(): number {
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  async function streamsOpen(): Promise<number> {
    const { text } = await api.get('/metrics');
    return Number(/^holdfast_streams_open (\d+)$/m.exec(text)?.[1]);
  }
});

interface IdleStream {
  /** The next bytes, and how long after the opening they came. */
  next(): Promise<{ text: string; afterMs: number }>;
  close(): void;
}

/** Opens a stream and takes all that it has to tell at present. */
async function openIdle(url: string): Promise<IdleStream> {
  const openedAt = performance.now();
  const abort = new AbortController();
  const { body } = await fetch(url, { signal: abort.signal });
  const chunks = body?.pipeThrough(new TextDecoderStream()).getReader();
  const next = async () => {
    const { value = '' } = (await chunks?.read()) ?? {};
    return { text: value, afterMs: performance.now() - openedAt };
  };
  for (let text = ''; !/event: caught-up\n(.+\n)+\n$/.test(text); ) text += (await next()).text;
  return { next, close: () => abort.abort() };
}

/** What was on its way to a socket that has been cut off. */
async function rest(socket: net.Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).resume();
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

/** Pauses the response after each chunk. */
async function* pauses(response: http.IncomingMessage, ms: number): AsyncGenerator<void> {
  while (!response.readableEnded && !response.destroyed) {
    response.resume();
    await once(response, 'data');
    response.pause();
    await delay(ms);
    yield;
  }
}
