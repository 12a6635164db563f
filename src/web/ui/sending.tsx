import { useEffect, useState } from 'preact/hooks';
import { useApp } from '../app-context.ts';
import { Icon } from './icon.tsx';

/** What takes longer than this has not come through. */
const SLOW_MS = 2000;

/** Says that something is on its way; when it does not come through, that it will. */
export function Sending() {
  const { connection } = useApp();
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  const isAway = isSlow || connection.value.status !== 'live' || !navigator.onLine;
  return (
    <span class="sending" role="status">
      <Icon name="clock" />
      {isAway ? 'Sending… will arrive when you are back online.' : 'Sending…'}
    </span>
  );
}
