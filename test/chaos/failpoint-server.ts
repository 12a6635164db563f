import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { CodeCopy } from './failpoint-copy.ts';

/** A server that runs a copy of the code, in a process that may end at any moment. */
export interface CopyServer {
  /** Rejects when the process ends before it serves. */
  readonly url: Promise<string>;
  readonly pid: number;
  /** How it ended: with a code, or by a signal. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  stderr(): string;
  /** SIGKILL, unless it has ended. */
  kill(): Promise<void>;
}

export interface CopyServerOptions {
  dataDir: string;
  /** A file below the repository that the copy was made with. */
  agents: string;
  env?: Record<string, string>;
}

export function startCopy(copy: CodeCopy, { dataDir, agents, env }: CopyServerOptions): CopyServer {
  const args = [
    '--port',
    '0',
    '--data',
    dataDir,
    '--workers',
    '2',
    '--log-level',
    'warn',
    '--agents',
    copy.agents(agents),
  ];
  const child = spawn(process.execPath, [copy.main, 'serve', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const killNow = () => child.kill('SIGKILL');
  // A test that runs out of time leaves nothing behind.
  process.once('exit', killNow);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const exited = once(child, 'close').then(([code, signal]) => {
    process.off('exit', killNow);
    return { code, signal };
  });
  const url = Promise.race([
    firstUrl(child),
    exited.then(({ code, signal }): never => {
      throw new Error(`The server ended with ${code ?? signal} before it served.\n${errors}`);
    }),
  ]);
  // Who waits for the end alone is told of it by `exited`.
  url.catch(() => {});
  return {
    url,
    pid: child.pid ?? 0,
    exited,
    stderr: () => errors,
    async kill() {
      killNow();
      await exited;
    },
  };
}

function firstUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const [url] = /http:\/\/\S+(?=\s)/.exec(text) ?? [];
      if (url !== undefined) resolve(url);
    });
  });
}
