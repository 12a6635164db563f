import type { HttpContext } from './operation.ts';

/**
 * Where a request comes from, as its browser says it, which a page cannot change.
 *
 * - `same`: a page of this server, or the person at the browser.
 * - `listed`: a page of an origin that is allowed.
 * - `foreign`: any other page.
 * - `unknown`: what is no browser, or for a read an old one.
 */
export type Site = 'same' | 'listed' | 'foreign' | 'unknown';

/** @param allowed origins, as `Origin` writes them */
export function siteOf(c: HttpContext, allowed: readonly string[]): Site {
  const origin = c.req.header('Origin');
  const fetchSite = c.req.header('Sec-Fetch-Site');
  if (fetchSite === 'same-origin' || fetchSite === 'none') return 'same';
  if (origin !== undefined && allowed.includes(origin)) return 'listed';
  if (fetchSite !== undefined) return 'foreign';
  if (origin === undefined) return 'unknown';
  return hostOf(origin) === new URL(c.req.url).host ? 'same' : 'foreign';
}

/** Whether it was encrypted is left out: a proxy may have ended that. Null for `null`, the origin of what has none. */
function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}
