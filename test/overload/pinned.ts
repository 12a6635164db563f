import { spawnSync } from 'node:child_process';

/** Keeps a process with all its threads on one core. @returns false where there is no `taskset`, or no such core */
export function pin(pid: number, core: number): boolean {
  return spawnSync('taskset', ['-a', '-c', '-p', `${core}`, `${pid}`], { stdio: 'ignore' }).status === 0;
}
