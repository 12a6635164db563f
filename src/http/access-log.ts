import type { MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { Logger } from 'pino';
import type { Metrics } from './metrics.ts';
import type { HttpContext, HttpEnv } from './operation.ts';

/** Logs and counts every request when its handler is done. Query strings, where tokens may stand, are not logged. */
export function accessLog(logger: Logger, { requests, duration }: Metrics): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const startedAt = performance.now();
    await next();
    const ms = performance.now() - startedAt;
    const { method, path } = c.req;
    const { status } = c.res;
    const route = routeOf(c);
    requests.inc({ route, method, status });
    if (!c.get('untimed')) duration.observe({ route, method }, ms / 1000);
    const entry = { requestId: c.get('requestId'), method, path, status, ms: Math.round(ms * 10) / 10 };
    // What went well is a line for each request, which is for those who look for one.
    logger[status < 400 ? 'debug' : 'info'](entry, 'request');
  };
}

/** The pattern that the path matched, so that ids make no time series of their own. */
function routeOf(c: HttpContext): string {
  const pattern = matchedRoutes(c).at(-1)?.path ?? '/*';
  return pattern === '/*' ? 'none' : pattern;
}
