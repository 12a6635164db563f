import { expect } from 'vitest';
import { seqOf } from './api.ts';
import { readToSignal } from './reader-crowd.ts';
import { isSignal, type SseBlock } from './sse-reader.ts';

/** All blocks of an owner's log as a stream tells it from its beginning, byte for byte. */
export async function wholeLog(url: string): Promise<SseBlock[]> {
  const blocks = await readToSignal(`${url}/v1/events`, '0', 'caught-up');
  return blocks.filter((block) => !isSignal(block));
}

/**
 * Expects what readers were told before the process went to be in the log that it left: each event with the same bytes
 * under the same id, and that log to have no gap.
 *
 * @param told blocks of any connections; ids of a retelling are compared by their seq alone
 * @param log from {@link wholeLog} of the next process
 * @see docs/protocol.md §5.3
 */
export function expectStored(told: readonly SseBlock[], log: readonly SseBlock[]): void {
  expect(log.map(({ id }) => seqOf(id))).toEqual(log.map((_, index) => index + 1));
  const isStored = ({ id, data }: SseBlock) => {
    const stored = log[seqOf(id) - 1];
    const isRetold = id?.split('.').length === 3;
    return stored?.data === data && (isRetold || stored?.id === id);
  };
  expect(told.filter((block) => !isSignal(block) && !isStored(block))).toEqual([]);
}
