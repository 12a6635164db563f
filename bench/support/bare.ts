import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { BareCommand } from './bare-server.ts';

export interface Bare {
  url: string;
  pid: number;
  send(command: BareCommand): void;
  /** Makes `/bytes` answer with this text. */
  serve(text: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startBare(): Promise<Bare> {
  const child = fork(new URL('./bare-server.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
  const [port] = await once(child, 'message');
  const send = (command: BareCommand) => void child.send(command);
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    send,
    async serve(text) {
      const ready = once(child, 'message');
      send({ kind: 'serve', text });
      await ready;
    },
    async stop() {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    },
  };
}
