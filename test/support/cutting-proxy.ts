import { once } from 'node:events';
import net from 'node:net';

/** A TCP proxy that breaks connections, each where it hurts: in the middle of a line of data. */
export interface CuttingProxy {
  readonly url: string;
  /** How many connections have been cut. */
  readonly cuts: number;
  close(): Promise<void>;
}

const DATA_LINE = 'data: ';

/**
 * @param target the server's URL
 * @param cutAfterBytes of each connection, in turn: it is cut within the first line of data that comes after so many
 *   bytes. Connections beyond these are left alone.
 */
export async function openCuttingProxy(target: string, cutAfterBytes: readonly number[]): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<net.Socket>();
  let connections = 0;
  let cuts = 0;

  function connect(client: net.Socket): void {
    const upstream = net.connect(Number(port), hostname);
    let left = cutAfterBytes[connections++] ?? Number.POSITIVE_INFINITY;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on('end', () => client.end());
    upstream.on('data', (chunk) => {
      const line = chunk.length > left ? chunk.indexOf(DATA_LINE, left) : -1;
      left = Math.max(0, left - chunk.length);
      const cutAt = line + DATA_LINE.length + 1;
      if (line < 0 || cutAt >= chunk.length) {
        client.write(chunk);
        return;
      }
      cuts += 1;
      upstream.removeAllListeners('data').destroy();
      client.end(chunk.subarray(0, cutAt));
    });
  }

  const server = net.createServer(connect);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: ownPort } = server.address() as net.AddressInfo;

  return {
    url: `http://127.0.0.1:${ownPort}`,
    get cuts() {
      return cuts;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
