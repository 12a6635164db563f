import type { MiddlewareHandler } from 'hono';
import { HoldfastError } from '../model/error.ts';
import type { HttpContext, HttpEnv } from './operation.ts';

/** Every path of ours is of these alone, so that none ever needs an escape. */
const PLAIN = /^(\/[A-Za-z0-9._~-]+)*\/?$/;
const DOT_SEGMENT = /\/\.\.?(\/|$)/;
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/**
 * Refuses a target before anything is looked for by it: escapes, empty and dot segments are read in one way by a proxy in
 * front and in another behind it, and so pass where they must not.
 *
 * @throws HoldfastError `invalid_request` where target and Host are no URL, `not_found` for such a path
 */
export const refuseOddTargets: MiddlewareHandler<HttpEnv> = async (c, next) => {
  if (!URL.canParse(c.req.url)) {
    throw new HoldfastError('invalid_request', 'The request target or Host is malformed.');
  }
  const path = pathOf(targetOf(c));
  if (!PLAIN.test(path) || DOT_SEGMENT.test(path)) {
    throw new HoldfastError('not_found', 'There is nothing at this path.');
  }
  await next();
};

/** As it stood on the wire. An app that is asked without a server has only a URL, in which dot segments are resolved. */
function targetOf(c: HttpContext): string {
  return c.env?.incoming?.url ?? c.req.url;
}

function pathOf(target: string): string {
  const [path = ''] = target.replace(ORIGIN, '').split(/[?#]/, 1);
  return path;
}
