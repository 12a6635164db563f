import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import pino from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { type HttpServer, type ListenOptions, listen } from '../../src/http/server.ts';
import { openLimits } from '../support/open-limits.ts';
import { createAppDouble, TASK } from './app-double.ts';

const MAX = 20;
const SHORT_MS = 1000;
const sockets: Socket[] = [];
let server: HttpServer | null = null;

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
});

async function start(options: Partial<ListenOptions> = {}) {
  const double = createAppDouble();
  const limits = openLimits();
  const logger = pino({ level: 'silent' });
  server = await listen(double.app, { host: '127.0.0.1', port: 0, logger, ...limits, ...options });
  const { url } = server;
  /** A connection of its own that sends bytes, and takes what comes. */
  async function open(bytes = ''): Promise<Socket> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    sockets.push(socket);
    // To be cut off is what these tests are about.
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(bytes);
    return socket.resume();
  }

  return {
    double,
    open,
    /** Asks on a new connection, which closes behind the answer. */
    async health(): Promise<string> {
      const socket = await open('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      return textOf(socket);
    },
    async count(name: string): Promise<number> {
      const text = await limits.metrics.registry.metrics();
      return Number(new RegExp(`^holdfast_${name} (\\d+)`, 'm').exec(text)?.[1]);
    },
  };
}

async function textOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'close');
  return text;
}

const POST_HEAD = 'POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

describe('A server with room for twenty connections', () => {
  test.each([
    ['never send a byte', ''],
    ['send a part of their headers', 'GET /healthz HTTP/1.1\r\nHost: loc'],
    ['send a part of a body', `${POST_HEAD}Content-Length: 100\r\n\r\n{"agent":`],
    ['have been answered and stay', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ])('serves everybody at once beside two hundred that %s', async (_, bytes) => {
    const { open, health, count } = await start({ maxConnections: MAX });
    for (let n = 0; n < 200; n++) {
      await open(bytes);
      if (n % 20 === 19) expect(await health()).toMatch(/^HTTP\/1\.1 200 /);
    }

    expect(await count('connections_open')).toBeLessThanOrEqual(MAX);
    expect(await count('connections_dropped_total')).toBeGreaterThanOrEqual(180);
  });

  // Would fail if the oldest connection made room, whatever it is doing.
  test('keeps a request that is being answered, though it is the oldest', async () => {
    const { double, open, health } = await start({ maxConnections: MAX });
    double.holdsWaits = true;
    const begun = once(double.waits, 'wait');
    const waiting = await open(`GET /v1/tasks/${TASK.id}?wait=60 HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await begun;
    for (let n = 0; n < 50; n++) await open();

    expect(await health()).toMatch(/^HTTP\/1\.1 200 /);

    expect(waiting.closed).toBe(false);
    const gone = once(double.waits, 'gone');
    waiting.destroy();
    await gone;
  });

  test('closes a new connection when every other is being answered', async () => {
    const { double, open } = await start({ maxConnections: 2 });
    double.holdsWaits = true;
    const wait = `GET /v1/tasks/${TASK.id}?wait=60 HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    for (let n = 0; n < 2; n++) {
      const begun = once(double.waits, 'wait');
      await open(wait);
      await begun;
    }

    const refused = await open();

    if (!refused.closed) await once(refused, 'close');
    expect(refused.bytesRead).toBe(0);
  });
});

describe.concurrent('A connection is closed in time', () => {
  test.each([
    ['that never sends a byte', '', { headersMs: SHORT_MS }, 408],
    ['that sends a header a second', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ', { headersMs: SHORT_MS }, 408],
    ['whose body does not come', `${POST_HEAD}Content-Length: 100\r\n\r\n{"agent":`, { requestMs: SHORT_MS }, 408],
  ])('%s', async (_, bytes, options, status) => {
    const { open } = await start({ headersMs: SHORT_MS, ...options });
    const socket = await open(bytes);
    const openedAt = performance.now();

    const text = await textOf(socket);

    expect(text).toMatch(new RegExp(`^(HTTP/1\\.1 ${status} |$)`));
    expect(performance.now() - openedAt).toBeLessThan(10_000);
  });
});
