import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { openSse } from '../../src/http/sse.ts';

const SENT_BYTES = 32 * 1024 * 1024;
const TAKEN_BYTES = 256 * 1024;
const TAKE_EVERY_MS = 500;

/** Sends more than any socket holds to a client on a socket of its own; it reads nothing until it is told to. */
async function openToSlowClient() {
  const server = http.createServer((_request, response) => {
    const connection = openSse(
      response,
      {},
      {
        onWritable() {},
        onKeepalive() {},
        onMaxAge() {},
        onClose() {
          closedAt = performance.now();
          closed();
        },
      },
    );
    connection.write(Buffer.alloc(SENT_BYTES, 'x'));
    sentAt = performance.now();
  });
  let sentAt = 0;
  let closedAt: number | null = null;
  let closed = () => {};
  const whenClosed = new Promise<void>((resolve) => {
    closed = resolve;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  return {
    socket,
    whenClosed,
    openForMs: () => (closedAt === null ? null : closedAt - sentAt),
    end() {
      socket.destroy();
      server.close();
    },
  };
}

/** These two take their time: it is what they are about, and the kernel keeps it. */
describe.concurrent('§5.3 a reader', () => {
  test('that takes nothing for 10 s is cut off', async () => {
    const client = await openToSlowClient();

    await client.whenClosed;

    expect(client.openForMs()).toBeGreaterThan(9_000);
    expect(client.openForMs()).toBeLessThan(30_000);
    client.end();
  });

  test('that takes a little at a time is not, for it would ask for the same again and be cut off for ever', async () => {
    const client = await openToSlowClient();
    let taken = 0;
    let sip = 0;
    client.socket.on('data', (chunk) => {
      taken += chunk.length;
      sip += chunk.length;
      if (sip >= TAKEN_BYTES) client.socket.pause();
    });
    const sips = setInterval(() => {
      sip = 0;
      client.socket.resume();
    }, TAKE_EVERY_MS);

    while (taken < 0.4 * SENT_BYTES && client.openForMs() === null) {
      await Promise.race([once(client.socket, 'data'), client.whenClosed]);
    }
    clearInterval(sips);

    expect(client.openForMs()).toBeNull();
    expect(taken).toBeGreaterThanOrEqual(0.4 * SENT_BYTES);
    client.end();
  });
});
