import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const made: string[] = [];
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});

/** A directory that is gone after the tests of the file. */
export function newDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-store-'));
  made.push(dir);
  return dir;
}

/** What a backup of a directory holds, or a fork of it. */
export function copyDirectory(from: string): string {
  const to = newDirectory();
  cpSync(from, to, { recursive: true });
  return to;
}
