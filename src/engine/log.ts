import { failpoint } from '../failpoint.ts';
import type { VerbCall } from '../model/batch.ts';
import { HoldfastError } from '../model/error.ts';
import { type Committed, type Store, StoreError } from '../store/store.ts';

/** Told of every commit of this process, at once and in the order of the commits. */
export type CommitListener = (owner: string, calls: readonly VerbCall[], committed: Committed) => void;

/** Calls to be made right behind others, in the same transaction. */
export interface Followers {
  calls: readonly VerbCall[];
  /** Called when nothing of the transaction was written. */
  onFailed(): void;
}

/** The one way in to the store's writes: what commits is published before its caller goes on. */
export interface Log {
  /** As `Store.commit`. @throws HoldfastError `storage_full`: nothing was written, and later it may be */
  commit<const Calls extends readonly VerbCall[]>(owner: string, calls: Calls): Promise<Committed<Calls>>;
}

export interface LogOptions {
  store: Store;
  /** Called with each commit, in this order; they must not throw. */
  listeners: readonly CommitListener[];
  /** What is to follow these calls; null for nothing. */
  follow(owner: string, calls: readonly VerbCall[]): Followers | null;
  /**
   * Called when the store cannot write any more, or a listener throws: the process must end, for what it holds in memory
   * is no longer what is on disk.
   */
  onFatal(error: unknown): void;
}

export function createLog({ store, listeners, follow, onFatal }: LogOptions): Log {
  return {
    async commit(owner, calls) {
      const followers = follow(owner, calls);
      const all: readonly VerbCall[] = followers === null ? calls : [...calls, ...followers.calls];
      failpoint?.('commit-asked');
      if (followers !== null) failpoint?.('commit-followed');
      const committed = await store.commit(owner, all).catch((error: unknown): never => {
        followers?.onFailed();
        if (!(error instanceof StoreError)) throw error;
        if (error.code === 'storage_failed') onFatal(error);
        throw new HoldfastError('storage_full', 'Nothing can be stored at the moment.');
      });
      failpoint?.('committed-not-published');
      try {
        for (const listener of listeners) {
          listener(owner, all, committed);
          failpoint?.('published-to-one');
        }
      } catch (error) {
        // What is on disk and what is in memory have come apart.
        onFatal(error);
      }
      // The caller's outcomes come first, in the order of its calls.
      return committed as Committed<typeof calls>;
    },
  };
}
