import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { createParser } from 'eventsource-parser';
import type { SseBlock } from './sse-reader.ts';

/**
 * A stream that can be asked for at an exact instant: its connection is open and its request made, but not sent. What
 * comes is kept as it is and read only when the stream is over, so that many of them cost little while they run.
 */
export interface ReadyStream {
  /** Sends the request. @returns `performance.now()` once the socket has taken it whole */
  ask(): number;
  /** Settles when nothing more comes. */
  readonly closed: Promise<ClosedStream>;
}

export interface ClosedStream {
  status: number | undefined;
  /** `over` when the server ended the response, `cut` when the connection broke. */
  ending: 'over' | 'cut';
  blocks: SseBlock[];
}

/** @param cursor the `Last-Event-ID`; null for none */
export async function prepareStream(url: string, cursor: string | null): Promise<ReadyStream> {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  const headers = { Accept: 'text/event-stream', ...(cursor !== null && { 'Last-Event-ID': cursor }) };
  const request = http.request(url, { createConnection: () => socket, headers });
  await once(request, 'socket');

  const closed = new Promise<ClosedStream>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', () => {});
      response.on('close', () => {
        const ending = response.complete ? 'over' : 'cut';
        resolve({ status: response.statusCode, ending, blocks: blocksOf(Buffer.concat(chunks)) });
      });
    });
  });

  return {
    closed,
    ask() {
      request.end();
      if (socket.bytesWritten === 0 || socket.writableLength > 0)
        throw new Error('The request was not written at once.');
      return performance.now();
    },
  };
}

function blocksOf(bytes: Buffer): SseBlock[] {
  const blocks: SseBlock[] = [];
  let retry: string | null = null;
  let comments: string[] = [];
  const parser = createParser({
    onEvent({ id = null, event = null, data }) {
      blocks.push({ id, event, data, retry, comments, at: performance.now() });
      retry = null;
      comments = [];
    },
    onRetry(ms) {
      retry = `${ms}`;
    },
    onComment(comment) {
      comments.push(comment);
    },
    onError(error) {
      throw error;
    },
  });
  parser.feed(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  return blocks;
}
