import { openSocketReader } from '../support/socket-reader.ts';
import { isSignal, type SseBlock } from '../support/sse-reader.ts';
import { pass } from './pass.ts';

/** Waits until more than so many events have been told from now on, or for `mostMs`. @returns whether they have */
export async function passEvents(url: string, events: number, mostMs: number, until: AbortSignal): Promise<boolean> {
  let left = events;
  const enough = new AbortController();
  const onBlock = (block: SseBlock) => {
    if (isSignal(block)) return;
    left -= 1;
    if (left < 0) enough.abort();
  };
  const reader = openSocketReader(`${url}/v1/events`, { cursor: 'latest', onBlock });
  await pass(mostMs, AbortSignal.any([enough.signal, until]));
  reader.destroy();
  return enough.signal.aborted;
}
