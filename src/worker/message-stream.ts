import type { SayResult } from '../model/agent.ts';
import { utf8Bytes } from '../model/json.ts';
import { Coalescer } from './coalesce.ts';

/** The longest message. @see docs/protocol.md §7 */
export const MAX_MESSAGE_BYTES = 1024 * 1024;
/** So many deltas may be on their way to the disk before the source is asked for more. */
const MAX_OUTSTANDING_DELTAS = 4;

/**
 * Sends a message's text as it comes, in deltas, no faster than they reach the disk.
 *
 * @param sendDelta resolves when the delta is on disk
 * @param signal when it aborts, no more is taken from the source
 * @returns the whole text
 * @throws TypeError when the source yields anything but strings, RangeError when they are too long together
 */
export async function streamMessage(
  source: SayResult,
  sendDelta: (text: string) => Promise<void>,
  signal: AbortSignal,
): Promise<string> {
  const outstanding: Promise<void>[] = [];
  const coalescer = new Coalescer((text) => outstanding.push(sendDelta(text)));
  let content = '';
  let bytes = 0;
  try {
    for await (const text of chunks(source)) {
      if (signal.aborted) break;
      if (typeof text !== 'string') throw new TypeError(`A message's text must be strings, not ${typeof text}.`);
      content += text;
      bytes += utf8Bytes(text);
      if (bytes > MAX_MESSAGE_BYTES) throw new RangeError(`A message may hold ${MAX_MESSAGE_BYTES} bytes of text.`);
      coalescer.push(text);
      while (outstanding.length > MAX_OUTSTANDING_DELTAS) await outstanding.shift();
    }
    coalescer.end();
    return content;
  } finally {
    coalescer.stop();
  }
}

function chunks(source: SayResult): Iterable<unknown> | AsyncIterable<unknown> {
  if (typeof source === 'string') return [source];
  if (typeof source === 'object' && source !== null && Symbol.asyncIterator in source) return source;
  throw new TypeError('A message is a string or an async iterable of strings.');
}
