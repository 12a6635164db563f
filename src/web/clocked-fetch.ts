import type { ServerClock } from './server-clock.ts';

/** `fetch`, with the clock listening to what time the server says it is. */
export function clockedFetch(send: typeof fetch, clock: ServerClock): typeof fetch {
  return async (input, init) => {
    const askedAt = performance.now();
    const response = await send(input, init);
    const date = response.headers.get('Date');
    if (date !== null) clock.heardDate(date, askedAt, performance.now());
    return response;
  };
}
