import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The compiled `power-cut.c`, which writes down what a process does to a directory. */
export interface Shim {
  /** The environment that puts a process under it. @param trace a file that the process makes */
  env(dir: string, trace: string): Record<string, string>;
}

const SOURCE = path.join(import.meta.dirname, 'power-cut.c');
const COMPILED = path.join(import.meta.dirname, '../../node_modules/.cache/holdfast-power-cut');

/** Compiles it, unless that has been done. @returns null where there is no `gcc`, or no Linux */
export function buildShim(): Shim | null {
  if (process.platform !== 'linux') return null;
  const library = path.join(COMPILED, `${createHash('sha256').update(readFileSync(SOURCE)).digest('hex')}.so`);
  if (!existsSync(library) && !compile(library)) return null;
  return {
    env: (dir, trace) => ({
      LD_PRELOAD: library,
      POWER_CUT_DIR: realpathSync(dir),
      POWER_CUT_TRACE: trace,
      POWER_CUT_FAIL: failFile(trace),
      HOLDFAST_AGENT_ENV: 'POWER_CUT_TRACE',
    }),
  };
}

/** @returns false where there is no compiler */
function compile(library: string): boolean {
  mkdirSync(COMPILED, { recursive: true });
  const whole = `${library}.${process.pid}`;
  const flags = ['-shared', '-fPIC', '-O2', '-Wall', '-Wextra', '-Werror', '-o', whole, SOURCE, '-ldl', '-lpthread'];
  const { error, status, stderr } = spawnSync('gcc', flags, { encoding: 'utf8' });
  if (error !== undefined) return false;
  if (status !== 0) throw new Error(`The shim does not compile: ${stderr}`);
  renameSync(whole, library);
  return true;
}

/** Lets the next sync of a file whose name ends so fail with EIO. */
export function failNextSync(trace: string, suffix: string): void {
  writeFileSync(failFile(trace), suffix);
}

function failFile(trace: string): string {
  return `${trace}.fail`;
}
