import { useApp } from '../app-context.ts';
import { ticking } from '../ticking.ts';
import { Icon } from '../ui/icon.tsx';
import { RetryButton } from '../ui/retry-button.tsx';
import { connectionWords, retryWords } from '../words/connection.ts';

const now = ticking(() => Date.now(), 500);

/** How the events come, honestly: what is wrong, and when it is tried again. */
export function ConnectionPill() {
  const { connection, overview } = useApp();
  const { status } = connection.value;
  const trouble = overview.trouble.value;
  // Until the first events are asked for there is no connection, only what cannot be read.
  const words =
    trouble !== null && (status === 'idle' || status === 'connecting')
      ? {
          text: trouble.retryAt === null ? trouble.message : retryWords('No answer', trouble.retryAt, now.value),
          tone: 'bad' as const,
          canRetry: trouble.retryAt !== null,
        }
      : connectionWords(connection.value, status === 'live' ? 0 : now.value);
  return (
    <div class={`pill pill-${words.tone}`} role="status" aria-live="off" aria-label="Connection">
      {words.tone === 'bad' ? <Icon name="warning" /> : <span class="pill-dot" aria-hidden="true" />}
      <span class="pill-words">{words.text}</span>
      {words.canRetry && <RetryButton />}
    </div>
  );
}
