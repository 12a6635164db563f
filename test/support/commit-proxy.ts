import { once } from 'node:events';
import net from 'node:net';

/** What becomes of the next COMMIT: it does not reach the server, or its answer does not come back. */
export type Cut = 'before' | 'after';

/** A proxy in front of a PostgreSQL, which cuts the connection over which the next COMMIT comes. */
export interface CommitProxy {
  /** The same database over the proxy. */
  readonly url: string;
  /** How many it has not let in. */
  readonly refused: number;
  /** @param thenShut as {@link shut}, at that moment */
  cutNext(cut: Cut, thenShut?: boolean): void;
  /** Cuts them all, and lets nobody in until it is told so. */
  shut(): void;
  open(): void;
  close(): Promise<void>;
}

/** The message of the protocol. */
const COMMIT = Buffer.from('commit\0');

export async function openCommitProxy(url: string): Promise<CommitProxy> {
  const target = new URL(url);
  const clients = new Set<net.Socket>();
  let next: Cut | null = null;
  let shutsNext = false;
  let isShut = false;
  let refused = 0;
  const shut = () => {
    isShut = true;
    for (const client of clients) client.destroy();
  };
  const cutOff = (client: net.Socket) => {
    client.destroy();
    if (shutsNext) shut();
  };
  const server = net.createServer((client) => {
    client.on('error', () => {});
    if (isShut) {
      refused += 1;
      client.destroy();
      return;
    }
    clients.add(client);
    const upstream = net.connect({ host: target.hostname, port: Number(target.port || 5432), noDelay: true });
    upstream.on('error', () => {});
    let isDeaf = false;
    client.on('data', (data) => {
      const cut = data.includes(COMMIT) ? next : null;
      if (cut !== null) next = null;
      if (cut === 'before') cutOff(client);
      else upstream.write(data);
      isDeaf ||= cut === 'after';
    });
    upstream.on('data', (data) => {
      // The server answers once it has committed.
      if (isDeaf && data.includes('COMMIT\0')) cutOff(client);
      else if (!isDeaf) client.write(data);
    });
    client.on('close', () => {
      clients.delete(client);
      upstream.destroy();
    });
    upstream.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const over = new URL(url);
  over.host = `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  return {
    url: over.href,
    get refused() {
      return refused;
    },
    cutNext(cut, thenShut = false) {
      next = cut;
      shutsNext = thenShut;
    },
    shut,
    open() {
      isShut = false;
    },
    async close() {
      for (const client of clients) client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
