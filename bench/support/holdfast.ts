import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The built server with the bench's agents, in a process of its own. */
export interface Holdfast {
  url: string;
  pid: number;
  dataDir: string;
  /** From the start of its process to its readiness, in ms. */
  startedInMs: number;
  /** @param token of the owner, where the server asks for one */
  create(agent: string, input: unknown, token?: string): Promise<string>;
  /** SIGKILL; its data stay. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** @param options `flags` are more of `serve`, the last of a kind counts; with a `database` it has no directory */
export async function startHoldfast(
  options: { dataDir?: string; database?: string; flags?: readonly string[] } = {},
): Promise<Holdfast> {
  const dataDir = options.dataDir ?? mkdtempSync(path.join(tmpdir(), 'holdfast-bench-'));
  const spawnedAt = performance.now();
  const agents = path.join(ROOT, 'bench/support/agents.mjs');
  const flags = [
    '--port',
    '0',
    ...(options.database === undefined ? ['--data', dataDir] : ['--database', options.database]),
    '--agents',
    agents,
    '--workers',
    '2',
    '--max-unfinished-per-owner',
    '1000000',
    '--log-level',
    'error',
    ...(options.flags ?? []),
  ];
  const child = spawn(process.execPath, [path.join(ROOT, 'dist/cli/main.js'), 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  while (!/http:\/\/\S+/.test(text)) text += (await once(child.stdout, 'data')).toString();
  child.stdout.resume();
  const startedInMs = performance.now() - spawnedAt;
  const url = /http:\/\/\S+/.exec(text)?.[0] ?? '';
  return {
    url,
    pid: child.pid ?? 0,
    dataDir,
    startedInMs,
    async create(agent, input, token) {
      const body = JSON.stringify({ agent, input });
      const shown = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const headers = { 'content-type': 'application/json', ...shown };
      const response = await fetch(`${url}/v1/tasks`, { method: 'POST', headers, body });
      if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`);
      return ((await response.json()) as { id: string }).id;
    },
    async kill() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Opens a stream with nothing between the socket and the caller. */
export async function openRaw(url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const request = get(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}
