import { StartRefusal } from '../start-refusal.ts';

/** What an error of SQLite means to whoever opens its file. One that says nothing of the file or the disk stays as it is. */
export function asStartRefusal(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error;
  const { code, message } = error;
  const text = textOf(code, message, file);
  return text === null ? error : new StartRefusal(text, error);
}

function textOf(code: string, message: string, file: string): string | null {
  if (/^SQLITE_NOTADB/.test(code)) return notADatabase(file);
  if (/^SQLITE_CORRUPT/.test(code)) return corrupt(file, message);
  if (/^(EACCES|EPERM|EROFS|EISDIR)/.test(code)) return notWritable(file, code);
  if (/^SQLITE_FULL|^SQLITE_IOERR_SHMSIZE|^ENOSPC/.test(code)) {
    return `There is no space left on the disk of ${file}; free some, and start again.`;
  }
  if (/^SQLITE_(CANTOPEN|READONLY|PERM)/.test(code)) {
    return `${file}, or ${file}-wal or ${file}-shm beside it, cannot be made or written (${code}); see who owns them and their directory, and that they are files.`;
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return `${file} is locked by another program; end that one, and start again.`;
  }
  if (/^SQLITE_IOERR/.test(code))
    return `The disk of ${file} cannot be read or written (${code}); see to it before you start again.`;
  return null;
}

function notADatabase(file: string): string {
  return `${file} is no SQLite database; move it away, or choose another directory with --data.`;
}

export function corrupt(file: string, what: string): string {
  return `${file} is corrupt (${what}); put back a backup, or move it away to begin anew. "holdfast check" tells more.`;
}

export function notWritable(file: string, code: string): string {
  return `${file} cannot be written by this user (${code}); allow it, or choose another directory with --data.`;
}
