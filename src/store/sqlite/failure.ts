import { StoreError } from '../store.ts';

/** What passes: no space, for the file itself or for the shared-memory file beside it, and a lock that another holds. */
const PASSING = /^SQLITE_(FULL|IOERR_SHMSIZE|BUSY|LOCKED)/;
/** After these nobody knows what is on the disk. A failed fsync above all: the next one may succeed and mean nothing. */
const FATAL = /^SQLITE_(IOERR|CORRUPT|NOTADB|CANTOPEN|READONLY)/;

/** What a failed transaction means to the one who committed. An error that is no trouble of the disk stays as it is. */
export function asStoreError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (PASSING.test(code)) return new StoreError('storage_full', error);
  if (FATAL.test(code)) return new StoreError('storage_failed', error);
  return error;
}

export function isFatal(error: Error): error is StoreError {
  return error instanceof StoreError && error.code === 'storage_failed';
}
