import type { SayResult } from '../model/agent.ts';
import { utf8Bytes } from '../model/json.ts';
import { Coalescer } from './coalesce.ts';
import { defer, handled } from './deferred.ts';

/** The longest message. @see docs/protocol.md §7 */
export const MAX_MESSAGE_BYTES = 1024 * 1024;
/** So many deltas may be on their way to the disk before the source is asked for more. */
const MAX_OUTSTANDING_DELTAS = 4;

/** Where a message's text goes. */
export interface MessageSink {
  /** Called with each piece as it is taken from the source, before any of it is in a delta. */
  take(text: string): void;
  /** Resolves when the delta is on disk. */
  sendDelta(text: string): Promise<void>;
}

/**
 * Sends a message's text as it comes, in deltas, no faster than they reach the disk. Resolves when the source has ended;
 * one that has not is closed, without waiting for it, when the signal aborts or something goes wrong.
 *
 * @throws TypeError when the source yields anything but strings, RangeError when they are too long together, the
 *   signal's reason when it aborts
 */
export async function streamMessage(source: SayResult, sink: MessageSink, signal: AbortSignal): Promise<void> {
  const iterator = iteratorOf(source);
  const outstanding: Promise<void>[] = [];
  const coalescer = new Coalescer((text) => outstanding.push(sink.sendDelta(text)));
  const { promise: aborted, reject } = defer<never>();
  const onAbort = () => reject(signal.reason);

  async function pump(): Promise<void> {
    let bytes = 0;
    for (let next = await iterator.next(); !next.done && !signal.aborted; next = await iterator.next()) {
      const text = next.value;
      if (typeof text !== 'string') throw new TypeError(`A message's text must be strings, not ${typeof text}.`);
      bytes += utf8Bytes(text);
      if (bytes > MAX_MESSAGE_BYTES) throw new RangeError(`A message may hold ${MAX_MESSAGE_BYTES} bytes of text.`);
      sink.take(text);
      coalescer.push(text);
      while (outstanding.length > MAX_OUTSTANDING_DELTAS) await outstanding.shift();
    }
    if (!signal.aborted) coalescer.end();
  }

  signal.addEventListener('abort', onAbort);
  try {
    signal.throwIfAborted();
    // One race for all of it: one at each await would keep every piece until the end.
    await Promise.race([aborted, pump()]);
  } catch (error) {
    void handled(close(iterator));
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    coalescer.stop();
  }
}

function iteratorOf(source: SayResult): AsyncIterator<unknown> {
  if (typeof source === 'string') return single(source);
  if (typeof source === 'object' && source !== null && Symbol.asyncIterator in source) {
    return source[Symbol.asyncIterator]();
  }
  throw new TypeError('A message is a string or an async iterable of strings.');
}

async function* single(text: string): AsyncGenerator<string> {
  yield text;
}

/** Lets go of what the source holds: a model's connection. */
async function close(iterator: AsyncIterator<unknown>): Promise<void> {
  await iterator.return?.();
}
