import type { KeyUse } from '../model/batch.ts';
import { HoldfastError } from '../model/error.ts';
import type { StoreReads } from '../store/store.ts';

/** Runs requests so that of those with one new Idempotency-Key only one is under way. */
export interface InProgress {
  /** @throws HoldfastError `idempotency_in_progress` while the first request with the key is running */
  run<T>(owner: string, idempotency: KeyUse | undefined, request: () => Promise<T>): Promise<T>;
}

export function createInProgress(store: Pick<StoreReads, 'hasKey'>): InProgress {
  const running = new Set<string>();
  return {
    async run(owner, idempotency, request) {
      // Once the first has left its result, any number may be answered with it at a time.
      if (idempotency === undefined || (await store.hasKey(owner, idempotency.key))) return request();
      // From here to where it is noted nothing is awaited: of two that came together one must find the other.
      const id = JSON.stringify([owner, idempotency.key]);
      if (running.has(id)) {
        throw new HoldfastError(
          'idempotency_in_progress',
          'The first request with this Idempotency-Key is still running.',
        );
      }
      running.add(id);
      try {
        return await request();
      } finally {
        running.delete(id);
      }
    },
  };
}
