import { HoldfastError } from '../model/error.ts';
import { StoreError } from '../store/store.ts';

/**
 * Awaits what a store does for a request.
 *
 * @throws HoldfastError `storage_full`, `storage_unavailable` in place of the StoreError that says so
 */
export async function orRefuse<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof StoreError) || error.code === 'storage_failed') throw error;
    const isFull = error.code === 'storage_full';
    const message = isFull ? 'Nothing can be stored at the moment.' : 'The database cannot be reached at the moment.';
    throw new HoldfastError(error.code, message);
  }
}
