import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** Pages of somebody else: an empty one at every path. */
export interface PageServer {
  readonly port: number;
  close(): Promise<void>;
}

export async function openPageServer(): Promise<PageServer> {
  const server = http.createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>Elsewhere</title>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
