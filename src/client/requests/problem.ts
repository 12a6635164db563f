import { HoldfastError } from '../error.ts';
import { setRetryAfter } from './retry-after.ts';

/** What a proxy in front of the server says for it, and repeats however often it is asked. */
const DEFINITE: Record<number, string> = { 401: 'unauthorized', 403: 'forbidden', 413: 'payload_too_large' };

/** The error that an answer other than 2xx tells of. @see docs/protocol.md §2 */
export async function problemOf(response: Response): Promise<HoldfastError> {
  const error = problemIn(await response.text(), response) ?? notHoldfast(response);
  setRetryAfter(error, response.headers.get('Retry-After'));
  return error;
}

function problemIn(text: string, { status, headers }: Response): HoldfastError | null {
  if (!headers.get('Content-Type')?.startsWith('application/problem+json')) return null;
  try {
    const { code, detail, ...more } = JSON.parse(text);
    return typeof code === 'string' ? new HoldfastError(code, detail, { ...more, status }) : null;
  } catch {
    return null;
  }
}

/** The error of an answer that is none of Holdfast's: from a proxy, a captive portal, or another server. */
export function notHoldfast({ status }: Response): HoldfastError {
  const code = DEFINITE[status] ?? 'unreachable';
  return new HoldfastError(code, `The answer (${status}) is none of Holdfast's.`, { status });
}
