import { own } from './own-globals.ts';

/** What a stream may be given to write in so much time: each write, and each character, takes time of the main thread's. */
const EVERY_MS = 1000;
export const MAX_WRITES = 1000;
export const MAX_LENGTH = 1024 * 1024;

interface Output {
  write(chunk: string | Uint8Array, ...rest: unknown[]): boolean;
}

/**
 * Lets no more through to an output of this thread, which the main thread writes, than that can bear: what exceeds the
 * bounds of a second is dropped, and how much it was is written when the second is over.
 */
export function boundOutput(output: Output): void {
  const { write } = output;
  const room = { writes: MAX_WRITES, length: MAX_LENGTH };
  let since = Number.NEGATIVE_INFINITY;
  let dropped = 0;

  function tell(): void {
    if (dropped > 0) write.call(output, `[holdfast] ${dropped} writes to the console were too many in a second.\n`);
    dropped = 0;
  }

  function beginAnew(now: number): void {
    since = now;
    room.writes = MAX_WRITES;
    room.length = MAX_LENGTH;
    tell();
  }

  function drop(rest: unknown[]): boolean {
    // The timer runs late while the thread is busy: then the next write tells.
    if (dropped++ === 0) own.setTimeout(tell, EVERY_MS).unref();
    const onWritten = rest.at(-1);
    if (typeof onWritten === 'function') process.nextTick(onWritten);
    return true;
  }

  output.write = (chunk, ...rest) => {
    const now = own.performance.now();
    if (now - since >= EVERY_MS) beginAnew(now);
    room.writes -= 1;
    room.length -= chunk.length;
    return room.writes < 0 || room.length < 0 ? drop(rest) : write.call(output, chunk, ...rest);
  };
}
