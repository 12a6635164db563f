import type { ComponentChildren } from 'preact';
import type { Task } from '../../client/index.ts';
import { useApp } from '../app-context.ts';
import { titleWords } from '../nav/title-words.ts';
import { hrefOf } from '../route.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { TimeAgo } from '../ui/time-ago.tsx';
import { durationWords } from '../words/duration.ts';

/** What is known of a task, beside its events. */
export function TaskFacts({ task }: { task: Task }) {
  const { overview } = useApp();
  const { id, attempt, maxAttempts, createdAt, startedAt, finishedAt, conversationId, parentId, retryOf, runAt } = task;
  const conversation = overview.state.value.conversations.get(conversationId ?? '');
  return (
    <dl class="facts">
      <Fact name="Attempt">{maxAttempts > 1 ? `${attempt}, ${maxAttempts} at most` : attempt}</Fact>
      <Fact name="Created">
        <TimeAgo at={createdAt} />
      </Fact>
      {runAt !== null && <Fact name="Not before">{new Date(runAt).toLocaleString()}</Fact>}
      {startedAt !== null && finishedAt !== null && (
        <Fact name="Took">{durationWords(Date.parse(finishedAt) - Date.parse(startedAt))}</Fact>
      )}
      {conversationId !== null && (
        <Fact name="Conversation">
          <a href={hrefOf({ page: 'conversation', id: conversationId })}>
            <bdi>{conversation === undefined ? 'Open it' : titleWords(conversation)}</bdi>
          </a>
        </Fact>
      )}
      {parentId !== null && (
        <Fact name="Begun by">
          <a href={hrefOf({ page: 'task', id: parentId })}>another task</a>
        </Fact>
      )}
      {retryOf !== null && (
        <Fact name="Retry of">
          <a href={hrefOf({ page: 'task', id: retryOf })}>an earlier task</a>
        </Fact>
      )}
      <Fact name="Id">
        <code class="fact-id">{id}</code> <CopyButton text={() => id} name="Copy id" />
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
