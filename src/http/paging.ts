import { z } from 'zod';
import { HoldfastError } from '../model/error.ts';
import { type IdPrefix, isId } from '../model/id.ts';
import type { JsonObject } from '../model/json.ts';
import { decimal, once } from './query.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

/** The parameters of every list. */
export const pageParameters = {
  limit: once(z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT), decimal),
  page: once(z.string().optional()).meta({ description: 'The `nextPage` of the previous answer.' }),
};

/** A page of a list as the wire shows it. */
interface Page<Item> {
  items: readonly Item[];
  nextPage: string | null;
}

/**
 * What to ask the engine for: one item more than the page shows, which tells whether another page follows.
 *
 * @param kind names the list and its order; a page of another kind is refused
 * @param prefix of the ids that tell where a page begins
 * @throws HoldfastError `invalid_request` when `page` is none that was given out for this kind
 */
export function pageRange(
  { limit, page }: { limit: number; page?: string | undefined },
  kind: string,
  prefix: IdPrefix,
): { limit: number; after?: string } {
  return page === undefined ? { limit: limit + 1 } : { limit: limit + 1, after: lastId(page, kind, prefix) };
}

/** The same for a list in the order of an instant that changes: the page goes on where the last item stood when it was shown. */
export function timedPageRange(
  { limit, page }: { limit: number; page?: string | undefined },
  kind: string,
  prefix: IdPrefix,
): { limit: number; after?: { at: number; id: string } } {
  if (page === undefined) return { limit: limit + 1 };
  const at = /^\d{1,15}(?= )/.exec(placeIn(page, kind))?.[0] ?? '';
  return { limit: limit + 1, after: { at: Number(at), id: lastId(page, `${kind} ${at}`, prefix) } };
}

/** @param found what came of {@link pageRange}: up to one item more than `limit` */
export function toPage<Item extends { id: string }>(found: readonly Item[], limit: number, kind: string): Page<Item> {
  return cutPage(found, limit, ({ id }) => pageAfter(kind, id));
}

/** @param found what came of {@link timedPageRange} @param instantOf the ISO 8601 time by which they are in order */
export function toTimedPage<Item extends { id: string }>(
  found: readonly Item[],
  limit: number,
  kind: string,
  instantOf: (item: Item) => string,
): Page<Item> {
  return cutPage(found, limit, (last) => pageAfter(`${kind} ${Date.parse(instantOf(last))}`, last.id));
}

function cutPage<Item>(found: readonly Item[], limit: number, pageBehind: (last: Item) => string): Page<Item> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items, nextPage: found.length > limit && last !== undefined ? pageBehind(last) : null };
}

/** The JSON Schema of a page. */
export function pageOf(item: JsonObject): JsonObject {
  const properties = { items: { type: 'array', items: item }, nextPage: { type: ['string', 'null'] } };
  return { type: 'object', required: ['items', 'nextPage'], properties };
}

function pageAfter(kind: string, id: string): string {
  return Buffer.from(`${kind} ${id}`).toString('base64url');
}

function lastId(page: string, kind: string, prefix: IdPrefix): string {
  const id = placeIn(page, kind);
  if (isId(prefix, id) && page === pageAfter(kind, id)) return id;
  const message = 'This is no page of this list.';
  throw new HoldfastError('invalid_request', message, { errors: [{ path: '/page', message }] });
}

function placeIn(page: string, kind: string): string {
  return Buffer.from(page, 'base64url')
    .toString()
    .slice(kind.length + 1);
}
