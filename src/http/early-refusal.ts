import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from './operation.ts';
import { problemHeaders, problemText, statusOf } from './problem.ts';
import type { Shedding } from './shedding.ts';

/** Answers a request that need not be looked at any more. @returns whether it did */
export type EarlyRefusal = (request: IncomingMessage, response: ServerResponse) => boolean;

/** As the app takes it over from a request. */
const REQUEST_ID = /^[\w\-=]{1,255}$/;

/**
 * Refuses new work at half the cost of doing so in the app: three times as much as can be done must leave the server the
 * time to do what it can. What a page of another origin sends goes on to the app, which knows what such a page may see.
 *
 * @param operations those that are served, of which the ones for new work count
 */
export function createEarlyRefusal(
  operations: readonly Operation[],
  shedding: Pick<Shedding, 'refusal'>,
): EarlyRefusal {
  const paths = operations.filter(({ newWork }) => newWork).map(({ path }) => path.replaceAll(/\{\w+\}/g, '[^/?]+'));
  const newWork = new RegExp(`^(${paths.join('|')})(\\?|$)`);
  return ({ method, url = '', headers }, response) => {
    if (method !== 'POST' || headers.origin !== undefined || !newWork.test(url)) return false;
    const refusal = shedding.refusal();
    if (refusal === null) return false;
    const text = problemText(refusal);
    const given = headers['x-request-id'];
    response.writeHead(statusOf(refusal.code), {
      ...problemHeaders(refusal),
      'X-Content-Type-Options': 'nosniff',
      'Content-Length': Buffer.byteLength(text),
      'X-Request-Id': typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID(),
    });
    response.end(text);
    return true;
  };
}
