import { setTimeout as delay } from 'node:timers/promises';

/** Waits for so many ms, or until the signal aborts. */
export async function pass(ms: number, until: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal: until }).catch(() => {});
}
