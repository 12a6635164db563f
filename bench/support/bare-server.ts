/** A bare `node:http` server to measure beside: sends bytes, or one write per event and reader. Started by `fork`. */
import { createServer, type ServerResponse } from 'node:http';

export type BareCommand =
  /** Sends this text to each request, in pieces of 64 KiB, and ends it. */
  | { kind: 'serve'; text: string }
  /** Writes `text` to every open response, `times` times, every so often, then ends them. */
  | { kind: 'broadcast'; text: string; times: number; everyMs: number };

const PIECE = 64 * 1024;
const HEADERS = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' };
const responses = new Set<ServerResponse>();
let pieces: Buffer[] = [];

const server = createServer(async (request, response) => {
  response.writeHead(200, HEADERS);
  response.flushHeaders();
  responses.add(response);
  response.on('close', () => responses.delete(response));
  if (request.url !== '/bytes') return;
  for (const piece of pieces) {
    if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve));
  }
  response.end();
});

process.on('message', (command: BareCommand) => {
  if (command.kind === 'serve') {
    const bytes = Buffer.from(command.text);
    pieces = [];
    for (let at = 0; at < bytes.length; at += PIECE) pieces.push(bytes.subarray(at, at + PIECE));
    process.send?.('ready');
    return;
  }
  let sent = 0;
  const timer = setInterval(() => {
    for (const response of responses) response.write(command.text);
    sent += 1;
    if (sent < command.times) return;
    clearInterval(timer);
    for (const response of responses) response.end();
  }, command.everyMs);
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' ? address?.port : null);
});
