import { readFileSync } from 'node:fs';
import http from 'node:http';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { openSocketReader } from '../support/socket-reader.ts';
import { isSignal } from '../support/sse-reader.ts';
import { createTask, finished, readLog } from '../support/task-client.ts';

const STALLED = 20;
const MEBIBYTE = 1024 * 1024;

/** docs/protocol.md §5.3: a reader that takes nothing for 10 s is cut off; at the pace of one that does, it is served. */
describe('Beside a log of many megabytes', () => {
  let server: ServerProcess;
  let long: string;

  beforeAll(async () => {
    server = await startServerProcess({ agents: ['test/protocol/load-agents.ts'] });
    const taskId = await createTask(server.url, 'ticker', { count: 400, padBytes: 60_000 });
    await finished(server.url, taskId);
    long = `/v1/tasks/${taskId}/events`;
  });
  afterAll(() => server.stop());

  test('twenty readers that take nothing are cut off, delay nobody, and do not grow the server', async () => {
    const warmUp = openSocketReader(`${server.url}${long}`);
    await warmUp.closed;
    const before = residentBytes();
    const startedAt = performance.now();
    const sockets = await Promise.all(Array.from({ length: STALLED }, () => openStalled(long)));
    const busy = `/v1/tasks/${await createTask(server.url, 'ticker', { count: 260, everyMs: 50 })}/events`;
    const delays: number[] = [];
    let most = 0;
    let cutAt = Number.POSITIVE_INFINITY;
    const readers = Array.from({ length: 3 }, () =>
      openSocketReader(`${server.url}${busy}`, {
        onBlock(block) {
          if (!isSignal(block)) delays.push(Date.now() - Date.parse(JSON.parse(block.data ?? '').at));
          most = Math.max(most, residentBytes());
        },
      }),
    );

    const watching = (async () => {
      while ((await openStreams()) > readers.length) await delay(200);
      cutAt = performance.now() - startedAt;
    })();
    const endings = await Promise.all(readers.map(({ closed }) => closed));
    await watching;
    for (const socket of sockets) socket.resume();
    await Promise.all(sockets.map((socket) => once(socket, 'close')));

    console.log({ cutAt, before: before / MEBIBYTE, most: most / MEBIBYTE, n: delays.length, late: delays.filter((d) => d > 200).length, max: Math.max(...delays), p50: delays.sort((a,b)=>a-b)[delays.length>>1] });
    expect(endings).toEqual(['over', 'over', 'over']);
    expect(cutAt).toBeGreaterThan(9000);
    expect(cutAt).toBeLessThan(16_000);
    expect(most - before).toBeLessThan(100 * MEBIBYTE);
    expect(delays.filter((ms) => ms > 200)).toEqual([]);
  });

  test('a reader that takes a little at a time, for longer than that, is not cut off and gets it all', async () => {
    const request = http.get(`${server.url}${long}`, { agent: false });
    const [response]: http.IncomingMessage[] = await once(request, 'response');
    if (response === undefined) throw new Error('There is no response.');
    const chunks: Buffer[] = [];
    let isOpen = true;
    response.on('close', () => { isOpen = false; });
    response.on('error', () => {});
    const startedAt = performance.now();

    while (isOpen && performance.now() - startedAt < 15_000) {
      const chunk = response.read(20_000) ?? response.read();
      if (chunk !== null) chunks.push(chunk);
      await delay(50);
    }
    response.on('data', (chunk) => chunks.push(chunk));
    if (isOpen) await once(response, 'close');

    console.log(Buffer.concat(chunks).length, response.complete, performance.now() - startedAt);
    expect(response.complete).toBe(true);
  });

  function openStalled(path: string): Promise<net.Socket> {
    const { hostname, port } = new URL(server.url);
    const socket = net.connect({ host: hostname, port: Number(port), onread: undefined });
    socket.pause();
    socket.on('error', () => {});
    return new Promise((resolve) => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n`, () => resolve(socket));
    });
  }

  function residentBytes(): number {
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  async function openStreams(): Promise<number> {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^holdfast_streams_open (\d+)$/m.exec(text)?.[1]);
  }
});
