import type { Dice } from '../../support/dice.ts';
import type { Reply, Request } from '../history.ts';
import { pass } from '../pass.ts';
import { type Field, PATIENCE_MS, within } from './field.ts';

/** A client that loses interest does so within this time. */
const HASTE_MS = 20;

/**
 * Sends a request until a reply settles it: again after a lost connection, and after a refusal that asks for it. Now and
 * then it hangs up before the reply has come, as a client does whose train enters a tunnel.
 */
export async function send(field: Field, dice: Dice, asked: Omit<Request, 'tries' | 'reply'>): Promise<Request> {
  const request: Request = { ...asked, tries: [], reply: null };
  field.history.requests.push(request);
  while (request.reply === null && !field.over.aborted) {
    const hangsUp = request.tries.length === 0 && dice.below(10) === 0;
    const at = Date.now();
    const reply = await sendOnce(field, request, hangsUp ? dice.below(HASTE_MS) : PATIENCE_MS);
    request.tries.push({ at, status: reply?.status ?? null, code: reply?.body.code ?? null });
    if (reply !== null && !asksToComeAgain(reply)) request.reply = reply;
    else await pass(20 + dice.below(60), field.over);
  }
  field.history.note('request', request);
  return request;
}

async function sendOnce(field: Field, { path, body, key }: Request, patienceMs: number): Promise<Reply | null> {
  try {
    const response = await fetch(`${field.url}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', ...(key !== null && { 'Idempotency-Key': key }) },
      signal: within(field, patienceMs),
    });
    return {
      status: response.status,
      replayed: response.headers.get('Idempotency-Replayed') === 'true',
      body: await response.json(),
    };
  } catch {
    return null;
  }
}

/** @see docs/protocol.md §2 */
function asksToComeAgain({ status, body }: Reply): boolean {
  return status === 503 || (status === 409 && body.code === 'idempotency_in_progress');
}
