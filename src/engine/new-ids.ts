import { uuidv7obj } from 'uuidv7';
import { formatId, type IdPrefix } from '../model/id.ts';

/** An id that nothing has, and that sorts behind those made before. */
export function newId(prefix: IdPrefix): string {
  return formatId(prefix, uuidv7obj().bytes);
}
