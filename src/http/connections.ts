import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Metrics } from './metrics.ts';

/** The connections of a server, of which there are never more than so many. */
export interface Connections {
  /** Closes those that have never sent a byte: Node does not count them as idle, and browsers open such ones ahead. */
  closeSilent(): void;
}

/**
 * Keeps the connections of a server to `max`. The one too many takes the place of that which has owed a request for the
 * longest: it has sent nothing, or a part, or nothing since its last answer. When each has one that is being answered,
 * the new one is closed.
 */
export function boundConnections(
  server: Server,
  max: number,
  { connections, dropped }: Pick<Metrics['overload'], 'connections' | 'dropped'>,
): Connections {
  /** How many requests of each are being answered. */
  const open = new Map<Socket, number>();
  /** Those that owe a request, since the longest first. */
  const owing = new Set<Socket>();

  function onConnection(socket: Socket): void {
    open.set(socket, 0);
    owing.add(socket);
    connections.set(open.size);
    socket.once('close', () => {
      open.delete(socket);
      owing.delete(socket);
      connections.set(open.size);
    });
    if (open.size <= max) return;
    const [longest] = owing;
    dropped.inc();
    (longest ?? socket).destroy();
    // It is not closed before the end of this turn, in which more may come.
    if (longest !== undefined) forget(longest);
  }

  function forget(socket: Socket): void {
    owing.delete(socket);
    open.delete(socket);
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    // Refused before it was looked at, which is to cost as little as can be. The connection owes the next one already.
    if (response.writableEnded) return;
    const { socket } = request;
    let came = false;
    const onCame = () => {
      came = true;
      change(socket, 1);
    };
    if (hasBody(request)) request.once('end', onCame);
    else onCame();
    response.once('close', () => {
      request.off('end', onCame);
      if (came) change(socket, -1);
    });
  }

  function change(socket: Socket, by: 1 | -1): void {
    const count = open.get(socket);
    if (count === undefined) return;
    open.set(socket, count + by);
    owing.delete(socket);
    if (count + by === 0) owing.add(socket);
  }

  server.on('connection', onConnection);
  server.on('request', onRequest);
  return {
    closeSilent() {
      for (const socket of owing) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
