import type { ServerResponse } from 'node:http';
import type { ResetReason } from '../model/error.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

/** Why the server closes a stream that the client should open again. @see docs/protocol.md §5.3 */
export type ByeReason = 'drain' | 'overloaded' | 'max-age' | 'auth-expired';

/** One open connection of an event stream: the bytes of docs/protocol.md §5.3, and when it must go. */
export interface SseConnection {
  /** @returns false when the reader must take what it has first; then `onWritable` is called */
  write(block: Buffer | string): boolean;
  /** Says what ends the stream, and closes it. */
  finish(block: string): void;
  readonly isOpen: boolean;
}

export interface SseCallbacks {
  onWritable(): void;
  /** Every 15 s, for what is due by the clock. */
  onKeepalive(): void;
  onMaxAge(): void;
  /** Nothing more can be sent, whoever ended it. Called once, unless the connection was gone before it was opened. */
  onClose(): void;
}

/** For what is closed at once. */
export const IDLE: SseCallbacks = { onWritable() {}, onKeepalive() {}, onMaxAge() {}, onClose() {} };

export const SSE_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
  ...SECURITY_HEADERS,
};

const KEEPALIVE_MS = 15_000;
const KEEPALIVE = ': hb\n';
/** A reader that takes nothing for so long is cut off, at the latest when twice the time has passed; it resumes. */
const STALLED_MS = 10_000;
const MAX_AGE_MS = 30 * 60_000;
const MAX_AGE_SPREAD = 0.2;
const RETRY_MS = { least: 1000, most: 5000 };
const OVERLOADED_RETRY_MS = { least: 10_000, most: 30_000 };

/**
 * Sends the headers and opens the stream. Its first lines end with no blank line: the block that follows is theirs.
 *
 * The bytes go straight to Node's response: no stream adapter between, whose failed writes would not show here.
 *
 * @param headers what goes with every response; those of a stream win
 */
export function openSse(
  outgoing: ServerResponse,
  headers: Record<string, string>,
  callbacks: SseCallbacks,
): SseConnection {
  outgoing.writeHead(200, { ...headers, ...SSE_HEADERS });
  outgoing.write(`: ok\n${retryLine(RETRY_MS)}`);
  let open = true;
  // A response that waits behind another on its connection is told nothing when that goes: only the connection is.
  const { socket } = outgoing.req;
  socket.setMaxListeners(0);
  socket.once('close', close);

  const keepalive = setInterval(() => {
    if (outgoing.writableNeedDrain) return;
    outgoing.write(KEEPALIVE);
    callbacks.onKeepalive();
  }, KEEPALIVE_MS);
  const maxAge = setTimeout(callbacks.onMaxAge, MAX_AGE_MS * (1 + MAX_AGE_SPREAD * (2 * Math.random() - 1)));

  function release(): void {
    open = false;
    socket.off('close', close);
    clearInterval(keepalive);
    clearTimeout(maxAge);
  }

  function close(): void {
    if (!open) return;
    release();
    callbacks.onClose();
  }

  // Called when the socket has moved no byte for so long, and also when there was none to move. A slow reader, who takes
  // some, is given the time that it needs: cut off, it would ask for the same again and be cut off again.
  outgoing.setTimeout(STALLED_MS, () => {
    if (outgoing.writableLength > 0) outgoing.destroy();
  });
  outgoing.on('drain', () => {
    if (open) callbacks.onWritable();
  });
  outgoing.on('close', close);
  outgoing.on('error', close);
  // A client that was gone before the listeners were added would never be noticed.
  if (outgoing.destroyed || socket.destroyed) release();

  return {
    write(block) {
      if (!open) return false;
      return outgoing.write(block);
    },
    finish(block) {
      if (!open) return;
      close();
      outgoing.end(block);
    },
    get isOpen() {
      return open;
    },
  };
}

export function caughtUpBlock(cursor: string): string {
  return `event: caught-up\ndata: ${JSON.stringify({ cursor })}\nid: ${cursor}\n\n`;
}

export function resetBlock(reason: ResetReason, asked: string, resumeAfter: string): string {
  return `event: reset\ndata: ${JSON.stringify({ reason, asked, resumeAfter })}\nid: ${resumeAfter}\n\n`;
}

export function endBlock(cursor: string): string {
  return `event: end\ndata: {}\nid: ${cursor}\n\n`;
}

export function byeBlock(reason: ByeReason): string {
  const retry = retryLine(reason === 'overloaded' ? OVERLOADED_RETRY_MS : RETRY_MS);
  return `event: bye\n${retry}data: ${JSON.stringify({ reason })}\n\n`;
}

/** How long the client waits before it comes back: spread, so that not all come in one second. */
function retryLine({ least, most }: { least: number; most: number }): string {
  return `retry: ${Math.round(least + Math.random() * (most - least))}\n`;
}
