import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';

/** A proxy in a process of its own. */
export interface ProxyProcess {
  /** Ends it with all its connections, and starts it again on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Where proxies are is in nobody's path but root's. */
export const PROXY_ENV = { ...process.env, PATH: `${process.env.PATH}${path.delimiter}/usr/sbin` };

/** @param port where it will listen on this machine */
export async function startProxyProcess(program: string, args: readonly string[], port: number): Promise<ProxyProcess> {
  let child: ChildProcess | null = null;
  async function start(): Promise<void> {
    const started = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: PROXY_ENV });
    child = started;
    let said = '';
    started.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    while (!(await listens(port))) {
      if (started.exitCode === null) continue;
      throw new Error(`${program} ended with ${started.exitCode} before it served: ${said}`);
    }
  }
  async function stop(): Promise<void> {
    const exited = child === null ? null : once(child, 'exit');
    child?.kill('SIGTERM');
    await exited;
    child = null;
  }

  await start();
  return {
    async restart() {
      await stop();
      await start();
    },
    stop,
  };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
