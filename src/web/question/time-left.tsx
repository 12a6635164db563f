import { useEffect } from 'preact/hooks';
import { useApp } from '../app-context.ts';
import { Icon } from '../ui/icon.tsx';
import { countdownWords } from '../words/duration.ts';

const WARNING_MS = 60_000;

/** Counts down to a deadline by the server's clock: that of the device may be hours off. */
export function TimeLeft({ expiresAt }: { expiresAt: string }) {
  const { serverNow, announce } = useApp();
  const left = Date.parse(expiresAt) - serverNow.value;
  const isShort = left < WARNING_MS;
  useEffect(() => {
    if (isShort && left > 0) announce('Less than a minute is left to answer.');
  }, [isShort]);
  return (
    <span
      class={isShort ? 'time-left time-short' : 'time-left'}
      role="timer"
      title={new Date(expiresAt).toLocaleString()}
    >
      <Icon name="clock" />
      {left > 0 ? `${countdownWords(left)} left` : 'Time is up'}
    </span>
  );
}
