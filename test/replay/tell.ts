import { keyOf } from './steering.ts';
import { callsOf, deliveriesOf } from './trace.ts';
import type { World } from './world.ts';

/** A world's history in a form that can be read. */
export function tell({ history, runs }: World): string {
  const commits = history.commits.map(({ calls, refused }) => {
    const verbs = calls.map(({ verb, args }) => `${verb}(${keyOf(args) ?? ''})`);
    return `${verbs.join(' + ')}${refused.length > 0 ? ` refused: ${refused.join()}` : ''}`;
  });
  const traces = runs.incarnations.map(
    (run) =>
      `${run.taskId.slice(-4)} fence ${run.fence} cuts ${run.cuts}: calls ${callsOf(run).join(', ')}; given ${deliveriesOf(run).join(', ')}`,
  );
  return [...commits, ...traces].join('\n');
}
