import { useEffect, useState } from 'preact/hooks';
import { useApp } from '../app-context.ts';
import { connectionWords, SLOW_MS } from '../words/connection.ts';
import { RetryButton } from './retry-button.tsx';

/** Says that something is being read; when that takes long, why. */
export function Loading({ what }: { what: string }) {
  const { connection, overview } = useApp();
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  const trouble = overview.trouble.value;
  return (
    <div class="loading" role="status">
      <span class="loading-bars" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      <p>Loading {what}</p>
      {(isSlow || trouble !== null) && (
        <p class="loading-why">
          {trouble?.message ?? 'This takes longer than it should.'} Connection:{' '}
          {connectionWords(connection.value, Date.now()).text.toLowerCase()}. Nothing is lost meanwhile. <RetryButton />
        </p>
      )}
    </div>
  );
}
