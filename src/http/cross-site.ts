import type { MiddlewareHandler } from 'hono';
import { HoldfastError } from '../model/error.ts';
import { type HttpEnv, sendAlways } from './operation.ts';
import { siteOf } from './site.ts';

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];
const EXPOSED = [
  ...['Holdfast-Cursor', 'Idempotency-Replayed', 'Location', 'RateLimit', 'RateLimit-Policy', 'Retry-After'],
  'X-Request-Id',
].join(', ');
const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PATCH, DELETE',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Holdfast-Owner, Idempotency-Key, Last-Event-ID',
  'Access-Control-Max-Age': '600',
};

/**
 * Lets pages of some origins ask, and read every answer. Cookies are not among what they may send: those are for our own
 * pages. (Hono's own middleware makes a response before there is one, which a stream that was written past it cannot have.)
 */
export function allowOrigins(origins: readonly string[]): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const origin = c.req.header('Origin');
    sendAlways(c, { Vary: 'Origin' });
    if (origin === undefined || !origins.includes(origin)) return next();
    sendAlways(c, { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED });
    const isPreflight = c.req.method === 'OPTIONS' && c.req.header('Access-Control-Request-Method') !== undefined;
    return isPreflight ? c.body(null, 204, PREFLIGHT) : next();
  };
}

/**
 * Refuses what a page of somebody else has made a browser ask: whatever changes something, and everything of the API. A
 * browser asks first only for some of it, and sends the rest whether or not the page may read the answer.
 */
export function refuseForeignPages(origins: readonly string[]): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const isGuarded =
      !SAFE_METHODS.includes(c.req.method) || c.req.path.startsWith('/v1/') || c.req.path === '/metrics';
    if (isGuarded && siteOf(c, origins) === 'foreign') {
      throw new HoldfastError('forbidden', 'Pages of this origin may not ask; --allow-origin lets them.');
    }
    await next();
  };
}
