import type { SendOptions } from '../client.ts';
import { HoldfastError } from '../error.ts';
import { newIdempotencyKey } from './idempotency-key.ts';
import type { Requests } from './request.ts';

/** Sends a `POST` with a key, the same for all tries, so that it is done once however often it is sent. */
export function post<T>(
  requests: Requests,
  path: string,
  body: object,
  { signal, idempotencyKey = newIdempotencyKey() }: SendOptions = {},
): Promise<T> {
  if (!/^[!-~]{1,255}$/.test(idempotencyKey)) {
    const error = new HoldfastError('invalid_request', 'An idempotency key has 1 to 255 visible ASCII characters.');
    return Promise.reject(error);
  }
  return requests.send('POST', path, body, { signal, idempotencyKey });
}
