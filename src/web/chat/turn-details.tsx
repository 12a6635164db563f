import { useEffect, useState } from 'preact/hooks';
import { useApp } from '../app-context.ts';
import { isLogEvent } from '../log-event.ts';
import { createSpans, type Span } from '../task/spans.ts';
import { Loading } from '../ui/loading.tsx';
import { failureWords } from '../words/failure.ts';
import { ActivityRow } from './activity-row.tsx';

/** How a turn that is over came about. Its events are read when this is shown. */
export function TurnDetails({ taskId }: { taskId: string }) {
  const { client } = useApp();
  const [steps, setSteps] = useState<readonly Span[] | null>(null);
  const [words, setWords] = useState<string | null>(null);

  useEffect(() => {
    const stop = new AbortController();
    readSteps(stop.signal).then(setSteps, (error) => setWords(failureWords(error)));
    return () => stop.abort();
  }, [taskId]);

  async function readSteps(signal: AbortSignal): Promise<readonly Span[]> {
    const spans = createSpans();
    const types = ['task.*', 'step.*', 'tool.*'];
    for await (const item of client.events({ taskId, after: '0', types, signal })) {
      if (item.type === 'reset') setWords('The events of this turn are no longer kept.');
      else if (isLogEvent(item)) spans.add(item);
    }
    return spans.read().spans.filter(({ kind }) => kind === 'tool' || kind === 'step');
  }

  if (words !== null) return <p class="fine">{words}</p>;
  if (steps === null) return <Loading what="the details" />;
  return (
    <>
      {steps.length === 0 && <p class="fine">It took no steps.</p>}
      {steps.map((span) => (
        <ActivityRow
          key={span.key}
          activity={{
            name: span.name,
            tool: span.tool && { toolCallId: span.key, ...span.tool },
            status: span.status === 'done' ? 'completed' : span.status === 'open' ? 'running' : 'failed',
            attempt: span.attempt,
            ms: span.to === null ? null : span.to - span.from,
            error: span.error,
          }}
        />
      ))}
      <p class="fine">
        <a href={`#/tasks/${taskId}`}>Open the task</a>
      </p>
    </>
  );
}
