import type { HoldfastError } from '../error.ts';
import type { Feed } from './feed.ts';
import type { Frame } from './frame.ts';

/** What a feed has told and its reader has not taken yet. */
export interface Mailbox {
  /**
   * The next frame; null when too much has come since the last one, which is let go of: the reader has to read it again
   * at its own pace, and everything after this is kept.
   *
   * @throws HoldfastError what the feed failed with
   */
  take(): Promise<Frame | null>;
  /** Forgets what has come so far. */
  clear(): void;
  close(): void;
}

/** Items. A reader that is further behind than this reads from the server, which keeps them anyway. */
const CAPACITY = 5000;

function sizeOf({ items }: Frame): number {
  return 1 + items.length;
}

export function openMailbox(feed: Feed, signal: AbortSignal): Mailbox {
  let frames: Frame[] = [];
  let size = 0;
  let hasOverflowed = false;
  let failure: HoldfastError | null = null;
  let ring: () => void = () => {};

  const stopListening = feed.listen({
    onFrame(frame) {
      size += sizeOf(frame);
      if (size > CAPACITY) clear(true);
      else frames.push(frame);
      ring();
    },
    onFailed(error) {
      failure = error;
      ring();
    },
  });
  const onAbort = () => ring();
  signal.addEventListener('abort', onAbort);

  function clear(overflowed = false): void {
    frames = [];
    size = 0;
    hasOverflowed = overflowed;
  }

  return {
    clear: () => clear(),
    async take() {
      for (;;) {
        if (failure !== null) throw failure;
        if (hasOverflowed || signal.aborted) return null;
        const frame = frames.shift();
        if (frame !== undefined) {
          size -= sizeOf(frame);
          return frame;
        }
        await new Promise<void>((resolve) => {
          ring = resolve;
        });
      }
    },
    close() {
      stopListening();
      signal.removeEventListener('abort', onAbort);
    },
  };
}
