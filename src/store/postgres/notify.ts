import type { OwnerMarks } from './owner-marks.ts';
import { formatWakeUp } from './wake-up.ts';

/** Wakes the other nodes. */
export interface Notify {
  /** An owner's commit has gone through. */
  committed(owner: string): void;
  /** Sends a wake-up that names nobody, which comes back to this node as to all. @throws whatever sending does */
  probe(): Promise<void>;
  /** How many wake-ups could not be sent. What they were to tell is found by polling. */
  readonly failures: number;
  /** Sends what has gathered. */
  flush(): Promise<void>;
}

/**
 * So long owners gather. Sending takes a lock of the whole database, which nobody may hold while he writes: so it is done
 * in a transaction of its own, and seldom.
 */
const GATHER_MS = 5;

/** @param send sends a payload to all who listen */
export function createNotify(sender: string, marks: OwnerMarks, send: (payload: string) => Promise<unknown>): Notify {
  const gathered = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | null = null;
  let failures = 0;

  function arm(): void {
    if (timer === undefined && sending === null && gathered.size > 0) timer = setTimeout(sendGathered, GATHER_MS);
  }

  function sendGathered(): void {
    clearTimeout(timer);
    timer = undefined;
    const told = [...gathered];
    gathered.clear();
    sending = trySend(formatWakeUp({ sender, marks: told })).then(() => {
      sending = null;
      arm();
    });
  }

  async function trySend(payload: string): Promise<void> {
    try {
      await send(payload);
    } catch {
      failures += 1;
    }
  }

  return {
    committed(owner) {
      gathered.add(marks.of(owner));
      arm();
    },
    async probe() {
      await send(formatWakeUp({ sender, marks: [] }));
    },
    get failures() {
      return failures;
    },
    async flush() {
      while (timer !== undefined || sending !== null) {
        if (timer !== undefined) sendGathered();
        await sending;
      }
    },
  };
}
