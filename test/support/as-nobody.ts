import { chmodSync, chownSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const NOBODY = 65_534;

/**
 * Does something as a user who may not write some files of a directory, but all others in it. Root may write everything,
 * so this process is somebody else meanwhile.
 *
 * @param locked the directory itself, or files in it
 */
export function asNobody<T>(dir: string, locked: readonly string[], act: () => T): T {
  const isRoot = process.geteuid?.() === 0;
  const all = [dir, ...readdirSync(dir).map((name) => join(dir, name))];
  const modes = new Map([dirname(dir), ...all].map((path) => [path, statSync(path).mode]));
  for (const path of all) {
    if (isRoot) chownSync(path, NOBODY, NOBODY);
    if (locked.includes(path)) chmodSync(path, path === dir ? 0o555 : 0o444);
  }
  try {
    if (isRoot) process.seteuid?.(NOBODY);
    return act();
  } finally {
    if (isRoot) process.seteuid?.(0);
    for (const [path, mode] of modes) chmodSync(path, mode);
  }
}
