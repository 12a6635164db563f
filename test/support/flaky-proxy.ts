import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * What becomes of a new request:
 *
 * - `pass`: it goes through. Where the server does not listen, the connection is closed without a word.
 * - `bad-gateway`: 502 with a page of HTML, as a load balancer says it.
 * - `unavailable`: 503 without a body.
 * - `drop`: the connection is closed without a word.
 * - `silent`: it is taken, and never answered.
 * - `lose-answers`: it goes through, and in place of the answer the connection is closed.
 */
type Mode = 'pass' | 'bad-gateway' | 'unavailable' | 'drop' | 'silent' | 'lose-answers';

/** What stands between a browser and the server, and all that it does to them. It serves some pages itself. */
export interface FlakyProxy {
  readonly url: string;
  /** Where requests go; may be set anew. */
  target: string;
  mode: Mode;
  /** Whether it keeps event streams back to their end: their bodies alone, or their headers too. */
  holdsStreams: 'no' | 'body' | 'all';
  /** How long each request waits here on its way. */
  latencyMs: number;
  /** Every request so far that is none of its own pages, in the order of arrival: `POST /v1/tasks`. */
  readonly requests: string[];
  /** How the server has answered those that went through, in the order in which it did: `POST /v1/tasks 403`. */
  readonly answers: string[];
  /** Event streams that are open here now, whether or not anything goes through. */
  readonly openStreams: number;
  /** Closes all connections without a word. */
  cut(): void;
  /** What is open now gets nothing any more, and is not told: a path that was lost. New requests are as before. */
  forget(): void;
  close(): Promise<void>;
}

export interface StaticPage {
  type: string;
  body: string;
}

const OF_THE_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/** @param pages what is served here, by path */
export async function openFlakyProxy(target: string, pages: ReadonlyMap<string, StaticPage>): Promise<FlakyProxy> {
  const sockets = new Set<Socket>();
  const streams = new Set<ServerResponse>();
  const forwarding = new Set<AbortController>();

  const server = http.createServer((request, response) => void take(request, response));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const proxy: FlakyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target,
    mode: 'pass',
    holdsStreams: 'no',
    latencyMs: 0,
    requests: [],
    answers: [],
    get openStreams() {
      return streams.size;
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    forget() {
      for (const each of forwarding) each.abort();
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const page = pages.get(request.url?.replace(/\?.*/, '') ?? '');
    if (page !== undefined) {
      response.writeHead(200, { 'Content-Type': page.type, 'Cache-Control': 'no-cache' }).end(page.body);
      return;
    }
    proxy.requests.push(`${request.method} ${request.url}`);
    if (proxy.latencyMs > 0) await delay(proxy.latencyMs);
    switch (proxy.mode) {
      case 'pass':
      case 'lose-answers':
        forward(request, response);
        break;
      case 'bad-gateway':
        request.resume();
        response.writeHead(502, { 'Content-Type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>');
        break;
      case 'unavailable':
        request.resume();
        response.writeHead(503).end();
        break;
      case 'drop':
        request.socket.destroy();
        break;
      case 'silent':
        request.resume();
        break;
    }
  }

  function forward(request: IncomingMessage, response: ServerResponse): void {
    const { method, url = '/', headers } = request;
    const upstream = http.request(new URL(url, proxy.target), { agent: false, headers, ...(method && { method }) });
    const forgetting = new AbortController();
    const { signal } = forgetting;
    forwarding.add(forgetting);
    signal.addEventListener('abort', () => upstream.destroy());
    response.on('close', () => {
      forwarding.delete(forgetting);
      streams.delete(response);
      upstream.destroy();
    });
    upstream.on('error', () => {
      if (!signal.aborted) request.socket.destroy();
    });
    const losesAnswer = proxy.mode === 'lose-answers';
    upstream.on('response', (answer) => {
      if (losesAnswer) {
        request.socket.destroy();
        return;
      }
      const status = answer.statusCode ?? 502;
      proxy.answers.push(`${method} ${url} ${status}`);
      const entries = Object.entries(answer.headers).filter(([name]) => !OF_THE_CONNECTION.has(name));
      const isStream = answer.headers['content-type'] === 'text/event-stream';
      const held: Buffer[] = [];
      const holds = isStream ? proxy.holdsStreams : 'no';
      if (isStream) streams.add(response);
      if (holds !== 'all') response.writeHead(status, Object.fromEntries(entries)).flushHeaders();
      answer.on('data', (chunk) => {
        if (holds === 'no') response.write(chunk);
        else held.push(chunk);
      });
      answer.on('end', () => {
        if (holds === 'all') response.writeHead(status, Object.fromEntries(entries));
        response.end(Buffer.concat(held));
      });
      // Cut off in the middle: so is the client.
      answer.on('error', () => {
        if (!signal.aborted) request.socket.destroy();
      });
    });
    request.pipe(upstream);
  }

  return proxy;
}
