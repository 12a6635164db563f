import { type ReadonlySignal, signal } from '@preact/signals';
import { backoffMs } from '../../client/backoff.ts';
import { createEnding } from '../../client/ending.ts';
import { findEnvironment } from '../../client/environment.ts';
import { HoldfastError } from '../../client/index.ts';
import { pause } from '../../client/pause.ts';
import { newIdempotencyKey } from '../../client/requests/idempotency-key.ts';
import { createRequests } from '../../client/requests/request.ts';
import { onDevice } from '../kept-text.ts';
import { failureWords } from '../words/failure.ts';
import type { Session, Standing } from './session.ts';
import { forgetTyped, forgetTypedInTab, keepTypedFor } from './typed-text.ts';

/** Who is signed in, in this tab and all others of the browser, which have one cookie together. */
export interface SignIn {
  readonly standing: ReadonlySignal<Standing>;
  /** Finds out anew. Until that is done nobody is taken to be signed in. */
  look(): Promise<void>;
  /** @returns why not, in words; null when it was done */
  signIn(token: string): Promise<string | null>;
  /** @throws HoldfastError when the server cannot be told, and nothing has changed */
  signOut(): Promise<void>;
  /**
   * `fetch` for as long as the session lasts that is the present one: it lets nothing through once another tab has begun
   * a new one, whose cookie the browser would send along.
   */
  guard(send: typeof fetch): typeof fetch;
}

/** Another value after each change that a tab has made: all tabs see it before they ask anything. */
const TURN = 'holdfast.session';
const OUT = 'out ';
const TOKEN = /^[\x21-\x7e]+$/;
const NOT_KEPT =
  'The token is good, but this browser has not kept the session. It does so over https, and on the machine itself.';

export function createSignIn(url: string): SignIn {
  const standing = signal<Standing>({ status: 'looking', failure: null });
  const environment = findEnvironment();
  const never = createEnding();
  const requests = createRequests({ url }, never);
  /** As it was when it was found out who asks. */
  let turn: string | null = null;
  let looks = 0;
  let hasEnded = false;

  async function look(): Promise<void> {
    looks += 1;
    const own = looks;
    hasEnded ||= standing.value.status === 'in';
    standing.value = { status: 'looking', failure: null };
    turn = onDevice.get(TURN);
    if (turn?.startsWith(OUT)) {
      forgetTypedInTab();
      hasEnded = false;
    }
    for (let failures = 1; own === looks; failures += 1) {
      const found = await find();
      if (own !== looks) return;
      standing.value = found;
      if (found.status !== 'looking') return;
      await pause(backoffMs(failures), environment);
    }
  }

  async function find(): Promise<Standing> {
    try {
      const { body: session } = await requests.read<Session>('/v1/session', {});
      keepTypedFor(session.owner);
      hasEnded = false;
      return { status: 'in', session };
    } catch (error) {
      if (error instanceof HoldfastError && error.code === 'unauthorized') return { status: 'out', hasEnded };
      return { status: 'looking', failure: failureWords(error) };
    }
  }

  function beginTurn(kind = ''): void {
    turn = kind + newIdempotencyKey();
    onDevice.set(TURN, turn);
  }

  function lookIfEnded(): boolean {
    if (onDevice.get(TURN) === turn) return false;
    void look();
    return true;
  }

  window.addEventListener('storage', ({ key }) => key === TURN && lookIfEnded());
  // Who was put aside meanwhile was told nothing.
  environment.onWake(lookIfEnded);
  void look();

  return {
    standing,
    look,
    async signIn(token) {
      if (!TOKEN.test(token)) return 'A token has no spaces in it, and only plain letters, digits and signs.';
      try {
        // Before there is another cookie, and again for those who look for it.
        beginTurn();
        await createRequests({ url, token }, never).send('POST', '/v1/session', undefined, {});
        beginTurn();
        const found = await find();
        if (found.status === 'looking') return found.failure;
        if (found.status === 'out') return NOT_KEPT;
        standing.value = found;
        return null;
      } catch (error) {
        const isRefused = error instanceof HoldfastError && error.code === 'unauthorized';
        return isRefused ? 'This token is not good, or not any more.' : failureWords(error);
      }
    },
    async signOut() {
      await requests.send('DELETE', '/v1/session', undefined, {}).catch((error) => {
        if (!(error instanceof HoldfastError) || error.code !== 'unauthorized') throw error;
      });
      beginTurn(OUT);
      hasEnded = false;
      standing.value = { status: 'out', hasEnded };
      // The pages, which keep what was typed in them as they go, have gone.
      forgetTyped();
    },
    guard(send) {
      const own = looks;
      const check = () => {
        if (own !== looks || lookIfEnded()) throw new TypeError('The session is another.');
      };
      return async (input, init) => {
        check();
        const response = await send(input, init);
        check();
        // A proxy's own 401 says nothing of who is signed in here.
        const isOurs = response.headers.get('Content-Type')?.startsWith('application/problem+json');
        if (response.status === 401 && isOurs) void look();
        return response;
      };
    },
  };
}
