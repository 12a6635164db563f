import { failpoint } from '../failpoint.ts';
import type { VerbCall } from '../model/batch.ts';
import { HoldfastError } from '../model/error.ts';
import { type Committed, type Store, StoreError } from '../store/store.ts';
import { asUnavailable } from './refusal.ts';

/** Told of every commit of this process, at once and in the order of the commits. */
export type CommitListener = (owner: string, calls: readonly VerbCall[], committed: Committed) => void;

/** Calls to be made right behind others, in the same transaction. */
export interface Followers {
  calls: readonly VerbCall[];
  /** Called when nothing of the transaction was written. */
  onFailed(): void;
}

export type Following = (() => Followers | null) | null;

/** The one way in to the store's writes: what commits is published before its caller goes on. */
export interface Log {
  /** As `Store.commit`. @throws HoldfastError `storage_full`, `storage_unavailable`: nothing was written, and later it may be */
  commit<const Calls extends readonly VerbCall[]>(owner: string, calls: Calls): Promise<Committed<Calls>>;
}

export interface LogOptions {
  store: Store;
  /** Called with each commit, in this order; they must not throw. */
  listeners: readonly CommitListener[];
  /**
   * What is to follow these calls: called before all else, in the order of the commits. A promise only where the calls may
   * be overtaken by others.
   *
   * @returns what takes what the followers need, called right before the commit; null for no followers
   */
  follow(owner: string, calls: readonly VerbCall[]): Following | Promise<Following>;
  /**
   * Called when the store cannot write any more, or a listener throws: the process must end, for what it holds in memory
   * is no longer what is on disk.
   */
  onFatal(error: unknown): void;
}

export function createLog({ store, listeners, follow, onFatal }: LogOptions): Log {
  function failed(error: unknown): never {
    if (!(error instanceof StoreError)) throw error;
    if (error.code === 'storage_failed') onFatal(error);
    throw asUnavailable(error) ?? new HoldfastError('storage_full', 'Nothing can be stored at the moment.');
  }

  return {
    async commit(owner, calls) {
      const asked = follow(owner, calls);
      const following = asked instanceof Promise ? await asked.catch(failed) : asked;
      const followers = following === null ? null : following();
      const all: readonly VerbCall[] = followers === null ? calls : [...calls, ...followers.calls];
      failpoint?.('commit-asked');
      if (followers !== null) failpoint?.('commit-followed');
      const committed = await store.commit(owner, all).catch((error: unknown): never => {
        followers?.onFailed();
        return failed(error);
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
