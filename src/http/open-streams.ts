import { setTimeout as delay } from 'node:timers/promises';
import { type ByeReason, byeBlock, type SseConnection } from './sse.ts';

/** All event streams that are open, so that the server can say goodbye to them. */
export interface OpenStreams {
  add(connection: SseConnection): void;
  delete(connection: SseConnection): void;
  /** Null while streams may open. */
  readonly closing: ByeReason | null;
  /**
   * Ends all streams, each at a moment of its own within two seconds, so that not all of their readers come back in one
   * instant; a few within less. Each that is opened from now on ends at once. Resolves when all have been told.
   */
  close(reason: ByeReason): Promise<void>;
}

/** How long the ends of many streams are spread over, and how much of it each stream adds. */
const SPREAD_MS = 2000;
const SPREAD_EACH_MS = 100;

/** @param onCount told how many are open, whenever that changes */
export function createOpenStreams(onCount: (count: number) => void): OpenStreams {
  const connections = new Set<SseConnection>();
  let closing: ByeReason | null = null;
  return {
    add(connection) {
      connections.add(connection);
      onCount(connections.size);
    },
    delete(connection) {
      connections.delete(connection);
      onCount(connections.size);
    },
    get closing() {
      return closing;
    },
    async close(reason) {
      closing = reason;
      const spreadMs = Math.min(SPREAD_MS, connections.size * SPREAD_EACH_MS);
      await Promise.all(
        Array.from(connections, async (connection) => {
          await delay(Math.random() * spreadMs);
          connection.finish(byeBlock(reason));
        }),
      );
    },
  };
}
