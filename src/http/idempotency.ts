import { createHash } from 'node:crypto';
import type { KeyUse } from '../model/batch.ts';
import { HoldfastError } from '../model/error.ts';
import { canonicalJson, type Json } from '../model/json.ts';
import type { HttpContext } from './operation.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * The request's Idempotency-Key with what it stands for: method, path and body, but not the query, whose `wait` is no
 * part of the request.
 *
 * @param json the body as it was sent: equal values in another order of keys are the same request
 * @returns undefined without the header
 * @throws HoldfastError `invalid_request` for a malformed key, the empty one included
 */
export function readKey(c: HttpContext, json: Json): KeyUse | undefined {
  const key = c.req.header('Idempotency-Key');
  if (key === undefined) return undefined;
  if (!KEY.test(key)) {
    throw new HoldfastError('invalid_request', 'An Idempotency-Key is 1 to 255 visible ASCII characters.');
  }
  const request = canonicalJson([c.req.method, c.req.path, json]);
  return { key, fingerprint: createHash('sha256').update(request).digest('hex') };
}

/** Says that the effect is an earlier request's. */
export function markReplayed(c: HttpContext, { replayed }: { replayed: boolean }): void {
  if (replayed) c.header('Idempotency-Replayed', 'true');
}
