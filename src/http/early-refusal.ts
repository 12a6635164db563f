import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from './operation.ts';
import { problemHeaders, problemText, retryAfter, statusOf } from './problem.ts';
import { type Shedding, tooMuchWork } from './shedding.ts';

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
  shedding: Pick<Shedding, 'refusesWork'>,
): EarlyRefusal {
  const paths = operations.filter(({ newWork }) => newWork).map(({ path }) => path.replaceAll(/\{\w+\}/g, '[^/?]+'));
  const newWork = new RegExp(`^(${paths.join('|')})(\\?|$)`);
  // Made once: an error of its own, with its stack, would cost as much as all the rest.
  const refusal = tooMuchWork();
  const { code } = refusal;
  const status = statusOf(code);
  const text = problemText(refusal);
  const { 'Retry-After': _, ...always } = problemHeaders(refusal);
  const constant = [...Object.entries(always).flat(), 'Content-Length', `${Buffer.byteLength(text)}`];
  return ({ method, url = '', headers }, response) => {
    if (method !== 'POST' || headers.origin !== undefined || !newWork.test(url)) return false;
    if (!shedding.refusesWork()) return false;
    const given = headers['x-request-id'];
    const id = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    response.writeHead(status, [...constant, 'Retry-After', `${retryAfter(code)}`, 'X-Request-Id', id]).end(text);
    return true;
  };
}
