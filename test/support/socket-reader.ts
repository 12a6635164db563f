import http from 'node:http';
import { createParser } from 'eventsource-parser';
import type { SseBlock } from './sse-reader.ts';

/** A reader of a stream on a socket of its own, which can be paused, or destroyed at any byte. */
export interface SocketReader {
  /** The whole blocks with data that have come so far. */
  readonly blocks: SseBlock[];
  /** Settles when the response has begun; rejects when the socket was gone before. */
  readonly opened: Promise<http.IncomingMessage>;
  /** Settles when nothing more comes: `over` when the server ended the response, `cut` when the socket was destroyed. */
  readonly closed: Promise<'over' | 'cut'>;
  pause(): void;
  resume(): void;
  destroy(): void;
}

export interface SocketReaderOptions {
  /** Where to go on: the `Last-Event-ID`. */
  cursor?: string | null;
  /** Destroys the socket when so many bytes of the body have been read. */
  cutAfterBytes?: number;
  onBlock?(block: SseBlock): void;
}

export function openSocketReader(url: string, options: SocketReaderOptions = {}): SocketReader {
  const { cursor = null, cutAfterBytes = Number.POSITIVE_INFINITY, onBlock } = options;
  const headers = { Accept: 'text/event-stream', ...(cursor !== null && { 'Last-Event-ID': cursor }) };
  const request = http.get(url, { agent: false, headers });
  const blocks: SseBlock[] = [];
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let left = cutAfterBytes;
  let response: http.IncomingMessage | null = null;

  const parser = createParser({
    onEvent({ id = null, event = null, data }) {
      const block = { id, event, data, retry: null, comments: [], at: performance.now() };
      blocks.push(block);
      onBlock?.(block);
    },
    onError(error) {
      throw error;
    },
  });

  const opened = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
  });
  // A reader that is cut before the response has begun is no failure to those who wait for its end only.
  opened.catch(() => {});

  const closed = new Promise<'over' | 'cut'>((resolve) => {
    request.on('response', (incoming) => {
      response = incoming;
      incoming.on('data', (chunk: Buffer) => {
        const part = chunk.subarray(0, left);
        left -= part.length;
        parser.feed(decoder.decode(part, { stream: true }));
        if (left === 0) {
          incoming.removeAllListeners('data');
          request.destroy();
        }
      });
      // What a destroyed socket says of itself is told by `close`.
      incoming.on('error', () => {});
      // The end of the response may have been parsed before the byte at which this reader cuts was read.
      incoming.on('close', () => resolve(incoming.complete && left > 0 ? 'over' : 'cut'));
    });
    request.on('close', () => {
      if (response === null) resolve('cut');
    });
  });

  return {
    blocks,
    opened,
    closed,
    pause: () => response?.pause(),
    resume: () => response?.resume(),
    destroy: () => request.destroy(),
  };
}
