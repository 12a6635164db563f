import { useApp } from '../app-context.ts';

/** Tries at once whatever waits for its next attempt. */
export function RetryButton() {
  const { client, overview } = useApp();
  function retry(): void {
    client.wake();
    overview.wake();
  }
  return (
    <button type="button" class="link-button" onClick={retry}>
      Retry now
    </button>
  );
}
