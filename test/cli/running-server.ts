import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export const root = path.join(import.meta.dirname, '../..');

/** A child process, and what it has printed so far. */
export interface Running {
  child: ChildProcess;
  stdout: string;
  stderr: string;
  /** Settles when the output of standard output has come to match; rejects when the process ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** The exit code, or the signal that ended it, once all output is read. */
  exited: Promise<number | NodeJS.Signals>;
}

const running = new Set<ChildProcess>();
const directories: string[] = [];

export function temporaryDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-test-'));
  directories.push(directory);
  return directory;
}

/** Ends every process that was started here, and removes the temporary directories. */
export async function cleanUp(): Promise<void> {
  const ends = [...running].map((child) => once(child, 'close'));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(ends);
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
}

export function start(command: string, args: string[], options: SpawnOptions = {}): Running {
  const child = spawn(command, args, { cwd: root, ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const exited = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return code ?? signal;
  });
  const result: Running = { child, stdout: '', stderr: '', exited, printed };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    result.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    result.stderr += text;
  });
  return result;

  function printed(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(result.stdout);
        if (match !== null) resolve(match);
      };
      child.stdout.on('data', look);
      exited.then((code) => reject(new Error(`It ended with ${code} before it printed ${pattern}:\n${result.stderr}`)));
      look();
    });
  }
}

/** Runs `holdfast serve` from source on a free port, and resolves once it serves. */
export async function startServer(...args: string[]): Promise<Running & { url: string; dataDir: string }> {
  const dataDir = temporaryDirectory();
  const server = startHoldfast('serve', '--port', '0', '--data', dataDir, '--workers', '2', ...args);
  const [, url = ''] = await server.printed(/ serves (http:\S+)/);
  return Object.assign(server, { url, dataDir });
}

export function startHoldfast(...args: string[]): Running {
  return start(process.execPath, ['--import', 'tsx', path.join(root, 'src/cli/main.ts'), ...args]);
}
