/** One log event as an SSE message: unnamed, so that `onmessage` sees it, and one line of JSON. @see docs/protocol.md §5.3 */
export function eventFrame(cursor: string, json: string): string {
  return `id: ${cursor}\ndata: ${json}\n\n`;
}
