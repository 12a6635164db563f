import { createServer, type ServerResponse, STATUS_CODES } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { Logger } from 'pino';
import { HoldfastError } from '../model/error.ts';
import { boundConnections } from './connections.ts';
import type { EarlyRefusal } from './early-refusal.ts';
import type { Metrics } from './metrics.ts';
import type { HttpApp } from './operation.ts';
import { internalError, problemHeaders, problemText, statusOf } from './problem.ts';

/** Longer than the 60 s for which load balancers keep idle connections, so that they close first. */
const KEEP_ALIVE_MS = 72_000;
/** For the headers, and for the whole request with its body. Neither bounds a response. */
const HEADERS_MS = 20_000;
const REQUEST_MS = 60_000;
/** How often it is looked whether one has taken longer. */
const CHECK_MS = 1000;
/** After so long without a word the system asks whether the other side is still there. */
const PROBE_AFTER_MS = 30_000;
/** Also bounds the URL. */
const MAX_HEADER_BYTES = 16 * 1024;
/**
 * So many connections may wait to be taken; the system may allow fewer. One that finds no room there is tried again by its
 * client after one second, then three, then seven.
 */
const BACKLOG = 4096;
const GRACE_MS = 5000;
/** How often a closing server looks for connections that have become idle. */
const SWEEP_MS = 50;

export interface HttpServer {
  /** Where it listens, with the port that was really taken. */
  url: string;
  /**
   * Takes no more connections and resolves when all are closed. Responses under way may take `graceMs`, 5 s unless
   * given; then they are cut.
   */
  close(graceMs?: number): Promise<void>;
}

export interface ListenOptions {
  host: string;
  /** 0 takes any that is free. */
  port: number;
  logger: Logger;
  maxConnections: number;
  metrics: Metrics;
  /** Asked before the app. */
  refuseEarly: EarlyRefusal;
  /** For the headers and for the whole request, also on a connection that never sends a byte. 20 s and 60 s unless given. */
  headersMs?: number;
  requestMs?: number;
}

/** @throws Error of `node:net` when the address cannot be had */
export async function listen(app: HttpApp, listenOptions: ListenOptions): Promise<HttpServer> {
  const {
    host,
    port,
    logger,
    maxConnections,
    metrics,
    refuseEarly,
    headersMs = HEADERS_MS,
    requestMs = REQUEST_MS,
  } = listenOptions;
  const options = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: CHECK_MS,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  const handle = getRequestListener((request, env) => app.fetch(request, env), {
    hostname: host,
    errorHandler: (error) => outerError(error, logger),
  });
  const server = createServer(options, (request, response) => {
    if (!refuseEarly(request, response)) handle(request, response);
  });
  server.on('clientError', refuse);
  const connections = boundConnections(server, maxConnections, metrics.overload);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: BACKLOG }, resolve);
  });
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;

  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${bound}`,
    close(graceMs = GRACE_MS) {
      return new Promise((resolve) => {
        connections.closeSilent();
        const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
        const cut = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          clearInterval(sweep);
          clearTimeout(cut);
          resolve();
        });
      });
    },
  };
}

/** What went wrong outside of the app: a request target or Host that is no URL, or a bug. */
function outerError(error: unknown, logger: Logger): Response {
  const malformed = error instanceof RequestError;
  if (!malformed) logger.error({ err: error }, 'request failed');
  const problem = malformed
    ? new HoldfastError('invalid_request', 'The request target or Host is malformed.')
    : internalError();
  return new Response(problemText(problem), { status: statusOf(problem.code), headers: problemHeaders(problem) });
}

/** Answers what is no HTTP, or too slow, or too long, unless a response has begun on the connection. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  const begun = responseOf(socket)?.headersSent ?? false;
  if (begun || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const problem = new HoldfastError('invalid_request', 'The request is no well-formed HTTP.');
  const status = statusOfParseError(error.code);
  const text = problemText(problem, status);
  const headers = { ...problemHeaders(problem), 'Content-Length': `${Buffer.byteLength(text)}`, Connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', text].join('\r\n'));
}

/** The response that Node is about to write, or writes, to a connection; it tells of it nowhere else. */
function responseOf(socket: Duplex & { _httpMessage?: ServerResponse | null }): ServerResponse | null {
  return socket._httpMessage ?? null;
}

function statusOfParseError(code: string | undefined): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}
