import { readFileSync, statfsSync } from 'node:fs';
import { resolve } from 'node:path';

/** What `statfs` calls file systems of other machines on Linux: include/uapi/linux/magic.h, and those of their own sources. */
const NETWORK_TYPES: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x01021997, '9p'],
  [0x00c36400, 'Ceph'],
  [0x73757245, 'Coda'],
  [0x0bd00bd3, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x7461636f, 'OCFS2'],
  [0x01161970, 'GFS2'],
  [0x19830326, 'BeeGFS'],
  [0x786f4256, 'a shared folder of VirtualBox'],
]);
const FUSE = 0x65735546;
/** FUSE has one number for all; these of its kinds are on other machines. Local ones (ntfs, mergerfs, …) are let through. */
const NETWORK_FUSE =
  /^fuse\.(sshfs|rclone|s3fs|gcsfuse|goofys|geesefs|juicefs|JuiceFS|glusterfs|ceph|davfs|smbnetfs|curlftpfs|mount-s3|blobfuse2?|seaweedfs|moosefs|mfs|lizardfs|quobyte)\b/;

/**
 * The name of the file system that a directory is on, if that is another machine's: SQLite shares memory between its
 * connections and trusts the locks, and neither holds there. Null where it is local, or cannot be told: of macOS nothing
 * can, of Windows only a path that begins with a machine's name.
 */
export function networkFileSystem(dir: string): string | null {
  if (process.platform === 'win32') return isOnShare(resolve(dir)) ? 'a share of another machine' : null;
  if (process.platform !== 'linux') return null;
  return nameOfNetworkType(statfsSync(dir).type, () => mountedAs(resolve(dir), readFileSync(MOUNTS, 'utf8')));
}

const MOUNTS = '/proc/self/mountinfo';

/**
 * @param type as `statfs` has it
 * @param mountedAs what the kernel calls it where it is mounted; asked for FUSE only
 */
export function nameOfNetworkType(type: number, mountedAs: () => string | null): string | null {
  // On machines of 32 bits the large ones are negative.
  const unsigned = type >>> 0;
  if (unsigned !== FUSE) return NETWORK_TYPES.get(unsigned) ?? null;
  const name = mountedAs();
  return name !== null && NETWORK_FUSE.test(name) ? name : null;
}

/** What the last mount above a path is called. @param mounts lines as proc(5) describes them for `mountinfo` */
export function mountedAs(path: string, mounts: string): string | null {
  let found: { point: string; name: string } | null = null;
  for (const line of mounts.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const point = unescaped(before.split(' ')[4] ?? '');
    const [name = ''] = after.split(' ');
    const isAbove = point === '/' || path === point || path.startsWith(`${point}/`);
    if (point !== '' && isAbove && point.length >= (found?.point.length ?? 0)) found = { point, name };
  }
  return found?.name ?? null;
}

/** Blanks, tabs, line ends and backslashes are octal there. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function isOnShare(path: string): boolean {
  return path.startsWith('\\\\') && !/^\\\\[?.]\\(?!UNC\\)/i.test(path);
}
