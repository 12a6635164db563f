import { useApp } from '../app-context.ts';
import { agoWords } from '../words/relative-time.ts';

/** How long ago, with the exact time as a tooltip. */
export function TimeAgo({ at }: { at: string }) {
  const { serverMinute } = useApp();
  const instant = Date.parse(at);
  return (
    <time dateTime={at} title={new Date(instant).toLocaleString()}>
      {agoWords(instant, serverMinute.value)}
    </time>
  );
}
