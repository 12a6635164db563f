import { openSocketReader } from './socket-reader.ts';
import type { SseBlock } from './sse-reader.ts';

export interface Reading {
  /** The path of a stream. */
  path: string;
  /** Where it began; null for where unfinished work starts. */
  cursor: string | null;
  /** What came whole. */
  blocks: SseBlock[];
}

/**
 * Opens a stream each, on sockets of their own, and reads until the server is gone.
 *
 * @param afterEvents `strike` is called once all together have so many blocks, and each has one
 */
export async function readUntilGone(
  url: string,
  starts: readonly Omit<Reading, 'blocks'>[],
  afterEvents: number,
  strike: () => unknown,
): Promise<Reading[]> {
  let count = 0;
  let struck = false;
  const onBlock = () => {
    count += 1;
    if (struck || count < afterEvents || readers.some(({ blocks }) => blocks.length === 0)) return;
    struck = true;
    strike();
  };
  const readers = starts.map(({ path, cursor }) => openSocketReader(`${url}${path}`, { cursor, onBlock }));
  await Promise.all(readers.map(({ closed }) => closed));
  return starts.map((start, index) => ({ ...start, blocks: readers[index]?.blocks ?? [] }));
}

/** Goes on behind what a reading has, to its `end`, or to `caught-up` where a stream has no end. */
export function resume(url: string, { path, blocks }: Reading): Promise<SseBlock[]> {
  const cursor = blocks.findLast(({ id }) => id !== null)?.id ?? null;
  return readToSignal(`${url}${path}`, cursor, path === '/v1/events' ? 'caught-up' : 'end');
}

/** Reads on a socket of its own, up to and including a signal by this name, or to the end of the stream. */
export async function readToSignal(url: string, cursor: string | null, name: string): Promise<SseBlock[]> {
  const onBlock = ({ event }: SseBlock) => {
    if (event === name) reader.destroy();
  };
  const reader = openSocketReader(url, { cursor, onBlock });
  await reader.closed;
  return reader.blocks;
}
