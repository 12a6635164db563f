/**
 * One log event as an SSE message: unnamed, so that `onmessage` sees it, and one line of JSON. The id comes last: a client
 * that takes it over line by line and is cut off in the middle must not resume after an event that it never had whole.
 *
 * @see docs/protocol.md §5.3
 */
export function eventFrame(cursor: string, json: string): string {
  return `data: ${json}\nid: ${cursor}\n\n`;
}
