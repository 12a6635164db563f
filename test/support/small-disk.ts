import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own, in memory, that can really be full. */
export interface SmallDisk {
  readonly dir: string;
  /** Takes all space but so many bytes, until {@link free}; again takes what has become free meanwhile. */
  fill(leaveBytes: number): void;
  free(): void;
  /** From now on nothing on it can be changed. */
  makeReadOnly(): void;
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
      const file = openSync(ballast, 'a');
      try {
        writeSync(file, Buffer.alloc(Math.max(0, bavail * bsize - leaveBytes)));
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(ballast),
    makeReadOnly() {
      const { status: code, stderr } = spawnSync('mount', ['-o', 'remount,ro', dir]);
      if (code !== 0) throw new Error(`${dir} cannot be made read-only: ${stderr}`);
    },
    unmount() {
      const { status: code, stderr } = spawnSync('umount', [dir]);
      if (code !== 0) throw new Error(`${dir} cannot be unmounted: ${stderr}`);
      rmSync(dir, { recursive: true });
    },
  };
}

/** Whether this user may mount: root may. */
export function mayMount(): boolean {
  const disk = mountSmallDisk(1024 * 1024);
  disk?.unmount();
  return disk !== null;
}
