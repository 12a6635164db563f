import type { StoredEvent } from '../store/store.ts';

/** One log event as an SSE message: unnamed, so that `onmessage` sees it, and one line of JSON. @see docs/protocol.md §5.3 */
export function eventFrame(cursor: string, event: StoredEvent): string {
  return `id: ${cursor}\ndata: ${event.json}\n\n`;
}
