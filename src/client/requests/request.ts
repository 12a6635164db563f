import type { Ending } from '../ending.ts';
import type { ClientOptions } from '../options.ts';
import { createCredential } from './credential.ts';
import { exchange } from './exchange.ts';
import { notHoldfast, problemOf } from './problem.ts';

/** One exchange with the server for each call, and a second one when a token or a ticket has run out. */
export interface Requests {
  /**
   * Begins to read what comes for long. `signal` ends the body as well, so it is made for this call alone.
   *
   * @param path with its query, like `/v1/events?after=0`
   * @returns any 2xx, whoever it is from; 204 is one
   * @throws HoldfastError see {@link retryAfterMs} for how long it asks to be left alone
   */
  open(path: string, init: { accept: string; signal: AbortSignal; ticketed: boolean }): Promise<Response>;
  /** @returns `cursor` is null of what has none, and where a proxy or CORS hides it */
  read<T>(path: string, init: { signal?: AbortSignal | undefined }): Promise<{ body: T; cursor: string | null }>;
  /** @param body sent as JSON; undefined sends none */
  send<T>(
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body: object | undefined,
    init: { signal?: AbortSignal | undefined; idempotencyKey?: string | undefined },
  ): Promise<T>;
}

const JSON_TYPE = 'application/json';

interface Sent {
  method: string;
  headers: Record<string, string>;
  body?: string;
}

/** @param closed aborts whatever is under way */
export function createRequests(options: ClientOptions, closed: Ending): Requests {
  const base = options.url.replace(/\/+$/, '');
  const token = createCredential(options.token);
  const ticket = createCredential(options.ticket);

  /** The answer's headers, whose body is still to come. */
  async function request(path: string, sent: Sent, signal: AbortSignal, ticketed = false): Promise<Response> {
    for (let isSecond = false; ; isSecond = true) {
      const bearer = await token.get();
      const pass = ticketed ? await ticket.get() : null;
      const url = `${base}${path}${pass === null ? '' : `${path.includes('?') ? '&' : '?'}ticket=${encodeURIComponent(pass)}`}`;
      const headers = bearer === null ? sent.headers : { ...sent.headers, Authorization: `Bearer ${bearer}` };
      const response = await (options.fetch ?? fetch)(url, { ...sent, headers, signal });
      if (response.ok) return response;
      const error = await problemOf(response);
      const isRenewed = response.status === 401 && [token.refuse(bearer), ticket.refuse(pass)].includes(true);
      if (!isRenewed || isSecond) throw error;
    }
  }

  /** An exchange to its end. */
  function whole<T>(
    method: string,
    path: string,
    body: object | undefined,
    { signal, idempotencyKey }: { signal?: AbortSignal | undefined; idempotencyKey?: string | undefined },
  ): Promise<{ body: T; cursor: string | null }> {
    const headers = {
      Accept: JSON_TYPE,
      ...(body !== undefined && { 'Content-Type': JSON_TYPE }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    };
    const sent = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    return exchange(path, signal === undefined ? [closed] : [closed, signal], async (inner, onAnswer) => {
      const response = await request(path, sent, inner);
      onAnswer();
      return { body: await bodyOf<T>(response), cursor: response.headers.get('Holdfast-Cursor') };
    });
  }

  return {
    async open(path, { accept, signal, ticketed }) {
      const connection = new AbortController();
      const end = () => connection.abort();
      signal.addEventListener('abort', end);
      try {
        return await exchange(path, [closed, signal], (inner) => {
          inner.addEventListener('abort', end);
          return request(path, { method: 'GET', headers: { Accept: accept } }, connection.signal, ticketed);
        });
      } catch (error) {
        signal.removeEventListener('abort', end);
        throw error;
      }
    },
    read: (path, init) => whole('GET', path, undefined, init),
    send: async (method, path, body, init) => (await whole<never>(method, path, body, init)).body,
  };
}

/** @throws HoldfastError `unreachable` when it is no JSON object: a captive portal says 200 as well */
async function bodyOf<T>(response: Response): Promise<T> {
  const text = response.status === 204 ? '{}' : await response.text();
  if (!/^\s*\{/.test(text)) throw notHoldfast(response);
  return JSON.parse(text);
}
