import net from 'node:net';

interface Reply {
  sentAt: number;
  /** 0 when the connection broke, or nothing came for half a minute. */
  status: number;
  head: string;
  body: string;
}

/** Sends one and the same request again and again, at a tenth of what `node:http` would cost the sender. */
export interface Requester {
  /** Opens so many connections, and has each of them served once. */
  warm(connections: number): Promise<void>;
  /** On a connection that is free, or a new one; one request at a time on each. */
  ask(): Promise<Reply>;
  close(): void;
}

/** Whether the task was made; with `?wait=` it is 200, since it is done. */
export function isTaken(status: number): boolean {
  return status === 202 || status === 200;
}

interface Connection {
  send(settle: (reply: Reply) => void, request?: Buffer): void;
  destroy(): void;
}

/** What is due while so many are under way waits here, and the wait counts. */
const MAX_CONNECTIONS = 1500;
const PATIENCE_MS = 30_000;

/** @param target method and path */
export function openRequester(url: string, target: string, body: string): Requester {
  const { hostname, port, host } = new URL(url);
  const length = Buffer.byteLength(body);
  const lines = [`${target} HTTP/1.1`, `Host: ${host}`, 'Content-Type: application/json', `Content-Length: ${length}`];
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
  const all = new Set<Connection>();
  const free: Connection[] = [];
  const waiting: ((reply: Reply) => void)[] = [];
  let closed = false;

  function connect(): Connection {
    const socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
    let text = '';
    let sentAt = 0;
    let settle: ((reply: Reply) => void) | null = null;

    function done(status: number, head: string, content: string): void {
      const answer = settle;
      settle = null;
      answer?.({ sentAt, status, head, body: content });
    }

    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const size = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < end + 4 + size) return;
      const [head, content] = [text.slice(0, end), text.slice(end + 4)];
      text = '';
      done(Number(head.slice(9, 12)), head, content);
      const next = waiting.shift();
      if (next === undefined) free.push(connection);
      else connection.send(next);
    });
    // Its end is told by `close`.
    socket.on('error', () => {});
    socket.on('close', () => {
      all.delete(connection);
      const at = free.indexOf(connection);
      if (at >= 0) free.splice(at, 1);
      done(0, '', '');
      const next = waiting.shift();
      if (next !== undefined && !closed) connect().send(next);
    });

    const connection: Connection = {
      send(onReply, request = bytes) {
        settle = onReply;
        sentAt = performance.now();
        socket.write(request);
      },
      destroy: () => socket.destroy(),
    };
    all.add(connection);
    return connection;
  }

  return {
    async warm(connections) {
      const health = Buffer.from(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      const opened = Array.from({ length: connections }, connect);
      await Promise.all(opened.map((each) => new Promise((resolve) => each.send(resolve, health))));
    },
    ask() {
      return new Promise((resolve) => {
        const connection = free.pop() ?? (all.size < MAX_CONNECTIONS ? connect() : null);
        if (connection === null) waiting.push(resolve);
        else connection.send(resolve);
      });
    },
    close() {
      closed = true;
      for (const connection of all) connection.destroy();
    },
  };
}
