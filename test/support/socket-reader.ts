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
  destroy(): void;
}

export interface SocketReaderOptions {
  /** Where to go on: the `Last-Event-ID`. */
  cursor?: string | null;
  /** Destroys the socket when so many bytes of the body, at least 1, have been read. */
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
  let retry: string | null = null;
  let comments: string[] = [];

  const parser = createParser({
    onEvent({ id = null, event = null, data }) {
      const block = { id, event, data, retry, comments, at: performance.now() };
      retry = null;
      comments = [];
      blocks.push(block);
      onBlock?.(block);
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

  function take(chunk: Buffer): void {
    if (left === 0) return;
    const part = chunk.subarray(0, left);
    left -= part.length;
    parser.feed(decoder.decode(part, { stream: true }));
    if (left === 0) request.destroy();
  }

  const opened = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
  });
  // Who waits for the end alone is told of it by `closed`.
  opened.catch(() => {});

  const closed = new Promise<'over' | 'cut'>((resolve) => {
    request.on('close', () => resolve('cut'));
    request.on('response', (response) => {
      response.on('data', take);
      response.on('error', () => {});
      // The end of the response may have been parsed before the byte at which this reader cuts was taken.
      response.on('end', () => {
        if (left > 0) resolve('over');
      });
    });
  });

  return { blocks, opened, closed, destroy: () => request.destroy() };
}
