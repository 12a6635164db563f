import type { ActivityEntry } from '../../client/index.ts';
import { Disclosure } from '../ui/disclosure.tsx';
import { Icon } from '../ui/icon.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { memo } from '../ui/memo.tsx';
import { durationWords } from '../words/duration.ts';

type Activity = Pick<ActivityEntry, 'name' | 'tool' | 'status' | 'attempt' | 'ms' | 'error'>;

/** A step, or a tool's call with what went in and what came out. */
export const ActivityRow = memo(({ activity }: { activity: Activity }) => {
  const { name, tool, status, attempt, ms, error } = activity;
  const summary = (
    <>
      <span class={`activity-icon activity-${status}`}>
        <Icon name={status === 'failed' ? 'warning' : tool === null ? 'step' : 'tool'} />
      </span>
      <bdi class="activity-name">{tool === null ? stepWords(name) : name}</bdi>
      <span class="activity-more">{moreWords({ status, attempt, ms, error })}</span>
    </>
  );
  const isEmpty = tool === null && error === null;
  if (isEmpty) return <div class="activity activity-plain">{summary}</div>;
  return (
    <Disclosure class="activity" summary={summary}>
      {() => (
        <>
          {tool !== null && <JsonView label="Input" value={tool.input} />}
          {tool?.truncated && <p class="fine">The output is too long to be shown here; the agent has it whole.</p>}
          {tool !== null && status === 'completed' && !tool.truncated && (
            <JsonView label="Output" value={tool.output} />
          )}
          {error !== null && (
            <p class="fault">
              <Icon name="warning" />
              <span>
                <code>{error.code}</code> <bdi>{error.message}</bdi>
              </span>
            </p>
          )}
        </>
      )}
    </Disclosure>
  );
});

function moreWords({ status, attempt, ms, error }: Omit<Activity, 'name' | 'tool'>): string {
  const took = ms === null ? '' : durationWords(ms);
  const words = { running: 'running', completed: took, failed: error === null ? 'stopped' : `failed ${took}` }[status];
  return attempt > 1 ? `${words}, attempt ${attempt}` : words;
}

/** A repeated step is numbered in its key; the assistant's own is the call of its model. */
function stepWords(key: string): string {
  const name = key.replace(/#\d+$/, '');
  return name === 'model' ? 'thinking' : name;
}
