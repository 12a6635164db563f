import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { databaseFlags, dropStorage, storageFlags } from './test-engine.ts';

/** A Holdfast of its own, in a real child process. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** On PostgreSQL the name of a database. @see storageFlags */
  readonly dataDir: string;
  /** What it has written to stderr so far. */
  stderr(): string;
  /**
   * Ends it in order: at SIGTERM, which service managers send, it first lets load balancers see it go.
   *
   * @returns the exit code
   */
  stop(signal?: 'SIGINT' | 'SIGTERM'): Promise<number | null>;
  /** SIGKILL, and nothing is cleaned up but the process. */
  kill(): Promise<void>;
}

export interface ServerProcessOptions {
  /** Kept when given, else a temporary one that goes with `stop`. */
  dataDir?: string;
  /** The URL of a database of PostgreSQL, in place of any directory. Nothing takes it away. */
  database?: string;
  /** Paths below the repository. */
  agents?: string[];
  workers?: number;
  /** Any that is free unless given: that of the one before, whose clients come back. */
  port?: number;
  env?: Record<string, string>;
  /** More flags of `serve`. */
  flags?: string[];
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What is built starts in a third of the time; whoever sets this has just built it. */
const PROGRAM = process.env.HOLDFAST_TEST_BUILT === '1' ? ['dist/cli/main.js'] : ['--import', 'tsx', 'src/cli/main.ts'];

export async function startServerProcess(options: ServerProcessOptions = {}): Promise<ServerProcess> {
  const dataDir = options.dataDir ?? mkdtempSync(path.join(tmpdir(), 'holdfast-test-'));
  const flags = (options.agents ?? []).flatMap((file) => ['--agents', path.join(ROOT, file)]);
  const port = `${options.port ?? 0}`;
  const storage = options.database === undefined ? await storageFlags(dataDir) : databaseFlags(options.database);
  const args = [...PROGRAM, 'serve', '--port', port, ...storage, '--log-level', 'warn'];
  const child = spawn(
    process.execPath,
    [...args, '--workers', `${options.workers ?? 2}`, ...flags, ...(options.flags ?? [])],
    {
      cwd: ROOT,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const url = await firstUrl(child).catch((error) => {
    throw new Error(`${error.message}\n${errors}`);
  });

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exited = once(child, 'exit');
    child.kill(signal);
    const [code] = await exited;
    return code;
  }

  return {
    url,
    pid: child.pid ?? 0,
    dataDir,
    stderr: () => errors,
    async stop(signal = 'SIGINT') {
      const code = await end(signal);
      if (options.dataDir === undefined) await dropStorage(dataDir);
      return code;
    },
    async kill() {
      await end('SIGKILL');
    },
  };
}

function firstUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const match = /http:\/\/\S+/.exec(text);
      if (match !== null && text.includes('\n')) resolve(match[0]);
    });
    child.on('exit', (code) => reject(new Error(`The server ended with ${code} before it served.`)));
  });
}
