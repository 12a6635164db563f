import { onAbort } from './abort.ts';

/** Wakes one who waits, and keeps a ring that nobody was waiting for. */
export interface Bell {
  ring(): void;
  /** Resolves at a ring, at an abort, or after `ms`, whichever comes first. */
  wait(ms: number, signals: readonly AbortSignal[]): Promise<void>;
}

export function createBell(): Bell {
  let rung = false;
  let wake: (() => void) | null = null;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    wait(ms, signals) {
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          stopListening();
          wake = null;
          rung = false;
          resolve();
        };
        const timer = setTimeout(done, ms);
        const stopListening = onAbort(signals, done);
        wake = done;
        if (rung) done();
      });
    },
  };
}
