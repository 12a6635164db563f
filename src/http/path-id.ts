import { HoldfastError } from '../model/error.ts';
import { type IdPrefix, isId } from '../model/id.ts';
import type { HttpContext } from './operation.ts';

/**
 * The id in a request's path.
 *
 * @throws HoldfastError `not_found` when it has not the form of one: nothing by that name can exist
 */
export function pathId(c: HttpContext, name: 'taskId' | 'questionId' | 'conversationId', prefix: IdPrefix): string {
  const id = c.req.param(name);
  if (id === undefined || !isId(prefix, id)) throw new HoldfastError('not_found', 'There is nothing by this id.');
  return id;
}
