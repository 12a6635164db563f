import { type ByeReason, byeBlock, type SseConnection } from './sse.ts';

/** All event streams that are open, so that the server can say goodbye to them. */
export interface OpenStreams {
  add(connection: SseConnection): void;
  delete(connection: SseConnection): void;
  /** Null while streams may open. */
  readonly closing: ByeReason | null;
  /** Ends all streams, and each that is opened from now on. */
  close(reason: ByeReason): void;
}

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
    close(reason) {
      closing = reason;
      for (const connection of connections) connection.finish(byeBlock(reason));
    },
  };
}
