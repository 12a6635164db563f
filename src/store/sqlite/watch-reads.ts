import type { StoreError } from '../store.ts';
import { asStoreError, isFatal } from './failure.ts';

/** Runs something that reads, and gives what it gives. */
export type Watch = <T>(read: () => T) => T;

/**
 * `onFailed` is told when something that reads finds that the database cannot be read any more. Whoever asked is thrown the
 * error as it came.
 */
export function watchReads(onFailed: (error: StoreError) => void): Watch {
  return (read) => {
    try {
      return read();
    } catch (cause) {
      const error = asStoreError(cause);
      if (isFatal(error)) onFailed(error);
      throw cause;
    }
  };
}
