import { once } from 'node:events';
import net from 'node:net';

/** A TCP proxy in front of one or more servers, which new connections go to in turn: on to the next where one refuses. */
export interface TcpProxy {
  readonly port: number;
  /** The servers' ports; may be set anew. */
  targets: readonly number[];
  /** How many connections are open now, those that were forgotten included. */
  readonly open: number;
  /** What is open now gets nothing any more, either way, and is not told: a path that was lost. New connections are as before. */
  forget(): void;
  /** Closes all connections without a word. */
  cut(): void;
  close(): Promise<void>;
}

export async function openTcpProxy(targets: readonly number[]): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let turn = 0;
  const server = net.createServer((client) => void take(client));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const proxy: TcpProxy = {
    port: (server.address() as net.AddressInfo).port,
    targets,
    get open() {
      return pairs.size;
    },
    forget() {
      for (const pair of pairs) pair.forget();
    },
    cut() {
      for (const pair of pairs) pair.cut();
    },
    async close() {
      proxy.cut();
      server.close();
      await once(server, 'close');
    },
  };

  async function take(client: net.Socket): Promise<void> {
    // What it sends waits until there is somebody to read it.
    client.on('error', () => {});
    client.pause();
    const first = turn++;
    for (let n = 0; n < proxy.targets.length; n++) {
      const upstream = await connect(proxy.targets[(first + n) % proxy.targets.length] ?? 0);
      if (upstream === null) continue;
      const pair = join(client, upstream);
      pairs.add(pair);
      client.on('close', () => pairs.delete(pair));
      if (client.destroyed) pair.cut();
      return;
    }
    client.destroy();
  }

  return proxy;
}

interface Pair {
  forget(): void;
  cut(): void;
}

/** @returns null where nobody listens */
async function connect(port: number): Promise<net.Socket | null> {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  try {
    await once(socket, 'connect');
    return socket;
  } catch {
    return null;
  }
}

function join(client: net.Socket, upstream: net.Socket): Pair {
  let isForgotten = false;
  client.setNoDelay(true);
  client.pipe(upstream).pipe(client);
  upstream.on('error', () => {});
  // Nobody reads what is still to come.
  client.on('close', () => {
    if (!isForgotten) upstream.destroy();
  });
  upstream.on('close', (broke) => {
    if (isForgotten) return;
    if (broke) client.resetAndDestroy();
    else client.end();
  });
  return {
    forget() {
      isForgotten = true;
      for (const socket of [client, upstream]) socket.unpipe().pause();
    },
    cut() {
      for (const socket of [client, upstream]) socket.destroy();
    },
  };
}
