import { openSocketReader } from './socket-reader.ts';
import { isNamed, openSseReader, type SseBlock } from './sse-reader.ts';

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
export async function resume(url: string, { path, blocks }: Reading): Promise<SseBlock[]> {
  const cursor = blocks.findLast(({ id }) => id !== null)?.id ?? '';
  const reader = await openSseReader(`${url}${path}`, { 'Last-Event-ID': cursor });
  if (path !== '/v1/events') return reader.rest();
  await reader.until(isNamed('caught-up'));
  reader.close();
  return reader.blocks;
}
