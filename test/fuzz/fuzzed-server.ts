import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

const MIB = 1024 * 1024;
const PROBE = pathToFileURL(path.join(import.meta.dirname, 'memory-probe.mjs')).href;
const ROOT = path.join(import.meta.dirname, '../..');
const SCOPES = 'tasks:read,tasks:write,questions:answer,admin';

export type Auth = 'none' | 'token';

/** What a server holds, in MiB. */
export interface Held {
  /** After garbage collection in the main thread: what lives there, Buffers included. */
  live: number;
  /** Of the whole process, with the heaps of all threads and what their allocators keep. */
  resident: number;
}

/** A server that can be asked what it holds. */
export interface FuzzedServer extends ServerProcess {
  /** What every good request needs in its headers. */
  readonly ownHeaders: Record<string, string>;
  held(): Promise<Held>;
  descriptors(): number;
  streamsOpen(): Promise<number>;
}

export async function startFuzzedServer(auth: Auth): Promise<FuzzedServer> {
  const work = mkdtempSync(path.join(tmpdir(), 'holdfast-fuzz-'));
  const dataDir = path.join(work, 'data');
  const memoryFile = path.join(work, 'memory.json');
  const ownHeaders: Record<string, string> =
    auth === 'token' ? { Authorization: `Bearer ${createToken(dataDir)}` } : {};
  const server = await startServerProcess({
    dataDir,
    agents: ['test/fuzz/fuzz-agents.ts'],
    env: {
      NODE_OPTIONS: `--import=${PROBE}`,
      FUZZ_MEMORY_FILE: memoryFile,
      // Who is told that it is too much gets nowhere else.
      ...(auth === 'token' && { HOLDFAST_AUTH: 'token', HOLDFAST_RATE_LIMIT: '0' }),
    },
  });

  return {
    ...server,
    ownHeaders,
    async held() {
      rmSync(memoryFile, { force: true });
      process.kill(server.pid, 'SIGUSR2');
      const { heapUsed, external, rss } = JSON.parse(await textOf(memoryFile));
      return { live: (heapUsed + external) / MIB, resident: rss / MIB };
    },
    descriptors: () => readdirSync(`/proc/${server.pid}/fd`).length,
    async streamsOpen() {
      const response = await fetch(`${server.url}/metrics`, { headers: ownHeaders });
      return Number(/^holdfast_streams_open (\d+)/m.exec(await response.text())?.[1]);
    },
    async stop() {
      const code = await server.stop();
      rmSync(work, { recursive: true, force: true });
      return code;
    },
  };
}

function createToken(dataDir: string): string {
  const args = ['--import', 'tsx', 'src/cli/main.ts', 'tokens', 'create', '--data', dataDir, '--owner', 'fuzz'];
  const text = execFileSync(process.execPath, [...args, '--scopes', SCOPES, '--json'], { cwd: ROOT, encoding: 'utf8' });
  return JSON.parse(text).token;
}

/** Of a file that another process is about to write. */
async function textOf(file: string): Promise<string> {
  for (;;) {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
