import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own, in memory, that can really be full. */
export interface SmallDisk {
  readonly dir: string;
  /** Takes all space but so many bytes, until {@link free}. */
  fill(leaveBytes: number): void;
  free(): void;
  unmount(): void;
}

/** @returns null where this user may not mount */
export function mountSmallDisk(bytes: number): SmallDisk | null {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'holdfast-test', dir]);
  if (status !== 0) {
    rmSync(dir, { recursive: true });
    return null;
  }
  const ballast = join(dir, 'ballast');
  return {
    dir,
    fill(leaveBytes) {
      const { bavail, bsize } = statfsSync(dir);
      const file = openSync(ballast, 'w');
      writeSync(file, Buffer.alloc(bavail * bsize - leaveBytes));
      closeSync(file);
    },
    free: () => rmSync(ballast),
    unmount() {
      const { status: code, stderr } = spawnSync('umount', [dir]);
      if (code !== 0) throw new Error(`${dir} cannot be unmounted: ${stderr}`);
      rmSync(dir, { recursive: true });
    },
  };
}
