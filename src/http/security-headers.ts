import type { MiddlewareHandler } from 'hono';
import type { HttpEnv } from './operation.ts';

/**
 * On every answer, whatever it is: browsers take it for what it says it is, run nothing in it, frame it nowhere, tell
 * nobody its address, and give it to no page of another origin that has not asked by the rules of CORS.
 */
export const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** On a page, whose own policy says what it needs: a window of another origin that opened it has no hold of it. */
export function pageHeaders(policy: string): Record<string, string> {
  return {
    ...SECURITY_HEADERS,
    'Content-Security-Policy': policy,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'X-Frame-Options': 'DENY',
  };
}

/** Puts {@link SECURITY_HEADERS} on what goes through the app; streams and refusals of broken HTTP have them by themselves. */
export const securityHeaders: MiddlewareHandler<HttpEnv> = async (c, next) => {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) c.header(name, value);
  await next();
};
