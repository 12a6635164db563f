import type { StoreError, StoreReads } from '../store.ts';
import { asStoreError, isFatal } from './failure.ts';

/**
 * The same reads; `onFailed` is told when one finds that the database cannot be read any more. Whoever asked is thrown the
 * error as it came.
 */
export function watchReads(reads: StoreReads, onFailed: (error: StoreError) => void): StoreReads {
  return new Proxy(reads, {
    get(target, name) {
      const read: unknown = Reflect.get(target, name);
      if (typeof read !== 'function') return read;
      return (...args: unknown[]) => {
        try {
          return Reflect.apply(read, target, args);
        } catch (cause) {
          const error = asStoreError(cause);
          if (isFatal(error)) onFailed(error);
          throw cause;
        }
      };
    },
  });
}
