import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../ui/icon.tsx';
import { Mark } from '../ui/mark.tsx';
import type { SignIn } from './sign-in.ts';

/** Asks for a token, which is sent once and kept nowhere: from then on a cookie stands for it. */
export function SignInPage({ signIn, hasEnded }: { signIn: SignIn; hasEnded: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  useLayoutEffect(() => input.current?.focus(), []);

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    const token = input.current?.value.trim() ?? '';
    if (token === '' || isSending) return;
    setSending(true);
    setFault(null);
    const found = await signIn.signIn(token);
    if (found === null) return;
    setFault(found);
    setSending(false);
    input.current?.select();
  }

  return (
    <main class="page start sign-in">
      <form class="start-inner" onSubmit={submit}>
        <Mark />
        <h1>Sign in to Holdfast</h1>
        <p class="start-words">
          {hasEnded ? 'Your session has ended. What you were writing is kept.' : 'With a token of this server.'}
        </p>
        <label class="label" for="token">
          Token
        </label>
        <input
          ref={input}
          id="token"
          class="input"
          type="password"
          autocomplete="off"
          spellcheck={false}
          aria-invalid={fault !== null}
          aria-describedby="token-words"
        />
        {fault !== null && (
          <p class="fault" role="alert">
            <Icon name="warning" />
            {fault}
          </p>
        )}
        <button type="submit" class="button button-primary" aria-disabled={isSending}>
          {isSending ? 'Signing in…' : 'Sign in'}
        </button>
        <p id="token-words" class="fine">
          Whoever runs the server makes one: <code>holdfast tokens create --owner NAME</code>
        </p>
      </form>
    </main>
  );
}
