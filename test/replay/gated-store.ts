import type { VerbCall } from '../../src/model/batch.ts';
import type { Committed, Store } from '../../src/store/store.ts';

/** A commit that a process has asked for. */
export interface AskedCommit {
  owner: string;
  calls: readonly VerbCall[];
  /** Writes it. What it came to is not told to who asked before `tell`. */
  write(): Promise<Committed>;
  tell(): void;
}

/** The store as one process sees it: its commits wait in their order until they are let through. */
export interface GatedStore {
  store: Store;
  queue: AskedCommit[];
}

export function gateStore(store: Store): GatedStore {
  const queue: AskedCommit[] = [];
  return {
    queue,
    store: {
      ...store,
      commit: (owner, calls) =>
        new Promise((resolve, reject) => {
          let tell = (): void => {};
          queue.push({
            owner,
            calls,
            async write() {
              try {
                const committed = await store.commit(owner, calls);
                tell = () => resolve(committed);
                return committed;
              } catch (error) {
                tell = () => reject(error);
                throw error;
              }
            },
            tell: () => tell(),
          });
        }),
    },
  };
}
