import { useEffect, useMemo } from 'preact/hooks';
import { useApp } from '../app-context.ts';
import { InboxItem } from '../inbox/inbox-item.tsx';
import { createQuestionDesk } from '../question/question-desk.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { Icon } from '../ui/icon.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { Loading } from '../ui/loading.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { Progress } from '../ui/progress.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { EventLog } from './event-log.tsx';
import { TaskActions } from './task-actions.tsx';
import { TaskFacts } from './task-facts.tsx';
import { createTaskFeed } from './task-feed.ts';
import { Timeline } from './timeline.tsx';

/** A task: how it stands, what went in and came out, and everything that happened. */
export function TaskPage({ id }: { id: string }) {
  const { client } = useApp();
  const feed = useMemo(() => createTaskFeed(client, id), [client, id]);
  useEffect(() => feed.close, [feed]);
  const task = feed.task.value;

  if (task === null) {
    return (
      <div class="page">
        <PageHead title="Task" back="tasks" />
        {feed.failure.value === null ? (
          <Loading what="the task" />
        ) : (
          <EmptyState icon="tasks" title="This task cannot be shown">
            <p>{feed.failure.value}</p>
            <a class="button" href="#/tasks">
              Show all tasks
            </a>
          </EmptyState>
        )}
      </div>
    );
  }
  return (
    <div class="page">
      <PageHead title={task.agent} back="tasks">
        <TaskActions task={task} onChanged={feed.show} />
      </PageHead>
      <div class="page-body task-page">
        <div class="task-status">
          <StatusBadge status={task.status} />
          {task.progress !== null && task.finishedAt === null && (
            <>
              <bdi>{task.progress.note}</bdi>
              <Progress fraction={task.progress.fraction} />
            </>
          )}
        </div>
        {task.error !== null && (
          <div class="task-error">
            <Icon name="warning" />
            <div>
              <code>{task.error.code}</code>
              <p dir="auto">{task.error.message}</p>
            </div>
          </div>
        )}
        <PendingQuestions taskId={id} />
        <TaskFacts task={task} />
        <div class="task-json">
          <JsonView label="Input" value={task.input} />
          {task.status === 'completed' && <JsonView label="Output" value={task.output} />}
        </div>
        <LiveTimeline feed={feed} />
        <EventLog taskId={id} events={feed.events} count={feed.count.value} isPruned={feed.isPruned.value} />
      </div>
    </div>
  );
}

/** Grows with the time only while something goes on. */
function LiveTimeline({ feed }: { feed: ReturnType<typeof createTaskFeed> }) {
  const { serverNow, clock } = useApp();
  const spans = feed.spans.value;
  const isOpen = spans.spans.some(({ to }) => to === null);
  return <Timeline spans={spans} now={isOpen ? Math.max(serverNow.value, clock.now()) : 0} />;
}

function PendingQuestions({ taskId }: { taskId: string }) {
  const { client, overview, tell } = useApp();
  const desk = useMemo(
    () => createQuestionDesk({ questions: client.questions, onResolved: overview.resolve, onWords: tell }),
    [client, overview, tell],
  );
  const all = overview.state.value.questions;
  const own = [...all.values()].filter((question) => question.taskId === taskId);
  // Before the forms are made, which begin with what was kept of them.
  useMemo(() => desk.follow([...all.values()].filter((question) => question.taskId === taskId)), [desk, all]);
  return (
    <ul class="inbox-list" aria-label="Pending questions">
      {own.map((question) => (
        <InboxItem key={question.id} question={question} desk={desk} />
      ))}
    </ul>
  );
}
