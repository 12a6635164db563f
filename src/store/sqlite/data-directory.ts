import { mkdirSync, realpathSync } from 'node:fs';
import { StartRefusal } from '../start-refusal.ts';
import { networkFileSystem } from './file-system.ts';

/**
 * Makes the directory of the data if it is missing.
 *
 * @throws StartRefusal when it cannot be one, or is on another machine's disk
 */
export function prepareDirectory(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true });
  } catch (cause) {
    throw new StartRefusal(whyNot(dir, cause), cause);
  }
  const network = networkFileSystem(realpathSync(dir));
  if (network === null) return;
  throw new StartRefusal(
    `The data directory ${dir} is on a network file system (${network}), where a database can break; choose one on a local disk with --data.`,
  );
}

function whyNot(dir: string, cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : null;
  switch (code) {
    case 'EEXIST':
      return `${dir} is a file, not a directory; choose a directory for the data with --data.`;
    case 'ENOTDIR':
      return `${dir} lies below a file; choose a directory for the data with --data.`;
    // What Node says of a read-only disk.
    case 'ENOENT':
    case 'EROFS':
    case 'EACCES':
    case 'EPERM':
      return `The data directory ${dir} cannot be made: this user may not write there, or nobody (${code}); allow it, or choose another with --data.`;
    case 'ENOSPC':
      return `The data directory ${dir} cannot be made: the disk is full.`;
    default:
      return `The data directory ${dir} cannot be made: ${cause instanceof Error ? cause.message : cause}`;
  }
}
