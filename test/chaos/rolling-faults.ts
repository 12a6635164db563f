import type { Life } from './history.ts';
import type { Story } from './story.ts';

/** What a rolling restart must not do, beside what no end of a server may: everything is handed over, so nothing is lost. */
export function rollingFaults({ lives, log }: Story, restarts: number): string[] {
  const stops = lives.filter(({ endedBy }) => endedBy === 'stop');
  // The round itself stops the server in the end, and may kill it once before.
  const missing = stops.length < restarts + 1 ? [`The server was stopped ${stops.length} times.`] : [];
  const killed = lives.filter(({ endedBy }) => endedBy === 'kill');
  const lost = log.filter(({ type, at }) => type === 'task.recovered' && !killed.some((life) => follows(at, life)));
  return [...missing, ...lost.map(({ taskId }) => `${taskId} was not handed over, but recovered.`)];
}

/** How long the ends of servers took, in ms. */
export function stopTimes({ lives }: Story): number[] {
  return lives.flatMap(({ endedBy, toldToEndAt, endedAt }) =>
    endedBy === 'stop' && toldToEndAt !== null && endedAt !== null ? [endedAt - toldToEndAt] : [],
  );
}

function follows(at: string, { endedAt }: Life): boolean {
  return endedAt !== null && Date.parse(at) >= endedAt;
}
