import type { WakeCause, Waker } from '../environment.ts';

/** Somebody looks, and one keepalive did not come: most likely the device slept, and the connection is gone. */
export const SUSPICIOUS_MS = 17_000;

/** What ends a request whose answer does not come, or that the device has most likely lost. */
export interface Watch {
  readonly signal: AbortSignal;
  /** Whether something did not come in time. */
  readonly isOverdue: boolean;
  /** Something has to come within this time. */
  expect(ms: number): void;
  /** Something came; the caller is busy with it, for as long as it likes. */
  rest(): void;
  /** What is still open is not wanted any more. */
  close(): void;
}

/**
 * @param suspiciousMs a silence of so long that somebody who looks must not be kept waiting any longer
 * @param outer ends it as well
 */
export function createWatch(waker: Waker, suspiciousMs: number, outer: AbortSignal): Watch {
  const controller = new AbortController();
  const abort = () => controller.abort();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOverdue = false;
  let heardAt = Date.now();
  const stopListening = waker.onWake((cause: WakeCause) => {
    if (cause === 'network' || Date.now() - heardAt > suspiciousMs) abort();
  });
  outer.addEventListener('abort', abort);
  if (outer.aborted) abort();
  return {
    signal: controller.signal,
    get isOverdue() {
      return isOverdue;
    },
    expect(ms) {
      clearTimeout(timer);
      timer = setTimeout(() => {
        isOverdue = true;
        abort();
      }, ms);
    },
    rest() {
      clearTimeout(timer);
      heardAt = Date.now();
    },
    close() {
      clearTimeout(timer);
      stopListening();
      outer.removeEventListener('abort', abort);
      abort();
    },
  };
}
