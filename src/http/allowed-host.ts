import { isIP } from 'node:net';
import type { MiddlewareHandler } from 'hono';
import { HoldfastError } from '../model/error.ts';
import type { HttpEnv } from './operation.ts';

/** They tell nothing, and are asked for by whatever address a load balancer knows. */
const PROBES = ['/healthz', '/readyz'];

/** Whether this is an address of the machine itself, or a name that never leaves it. @param host without a port */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

/**
 * Refuses requests that were meant for another host. A page can have its own name point here, and is then of this very
 * origin to its browser; the name is what gives it away.
 *
 * @param names beside those of the machine itself, without ports
 */
export function allowHosts(names: readonly string[]): MiddlewareHandler<HttpEnv> {
  const allowed = new Set(names.map((name) => name.toLowerCase()));
  return async (c, next) => {
    const host = plainHost(new URL(c.req.url).hostname);
    if (!isLoopback(host) && !allowed.has(host) && !PROBES.includes(c.req.path)) {
      throw new HoldfastError('forbidden', 'This server is not called so; --allow-host adds a name.');
    }
    await next();
  };
}

/** Without the brackets of IPv6, and the dot that may end a name. */
function plainHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '');
}
