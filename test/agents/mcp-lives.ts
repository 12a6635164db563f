import { EventEmitter, once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import type { McpServerConfig } from '../../src/agents/mcp-config.ts';

const require = createRequire(import.meta.url);
/** The reference server's module. */
export const EVERYTHING: string = require.resolve('@modelcontextprotocol/server-everything/dist/index.js');
const watched = path.join(import.meta.dirname, 'mcp-watched-server.mjs');

/** The life of one process of the MCP server. */
export interface Life {
  pid: number;
  /** Settles when the process has ended. */
  ended: Promise<unknown>;
}

export interface Lives {
  /** How the reference server is started so that its life is seen here. */
  config: McpServerConfig;
  /** How often it has been started so far. */
  readonly count: number;
  /** The nth life, from 1, as soon as it has begun. */
  life(n: number): Promise<Life>;
  close(): void;
}

export async function watchLives(): Promise<Lives> {
  const lives: Life[] = [];
  const births = new EventEmitter();
  const server = createServer((socket) => {
    // A process that is killed resets its connection.
    socket.on('error', () => {});
    const ended = once(socket, 'close');
    socket.once('data', (pid) => {
      lives.push({ pid: Number(pid), ended });
      births.emit('birth');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    config: { command: process.execPath, args: [watched, EVERYTHING, `${port}`], env: {} },
    get count() {
      return lives.length;
    },
    async life(n) {
      for (;;) {
        const life = lives[n - 1];
        if (life !== undefined) return life;
        await once(births, 'birth');
      }
    },
    close: () => server.close(),
  };
}

/** Ends a process at once, and waits until it is gone. */
export async function kill({ pid, ended }: Life): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await ended;
}
