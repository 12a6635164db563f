import { useEffect, useMemo } from 'preact/hooks';
import { useApp } from '../app-context.ts';
import { hrefOf, type TaskFilter } from '../route.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loading } from '../ui/loading.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { TaskFilters } from './task-filters.tsx';
import { createTaskList } from './task-list.ts';
import { TaskRow } from './task-row.tsx';

/** Everything that agents were asked to do, newest first. */
export function TasksPage({ filter }: { filter: TaskFilter }) {
  const { client, overview, mayWrite } = useApp();
  const { status, agent, conversationId } = filter;
  const list = useMemo(
    () => createTaskList(client, overview, filter),
    [client, overview, status, agent, conversationId],
  );
  useEffect(() => list.close, [list]);
  const tasks = list.tasks.value;
  const isFiltered = status !== null || agent !== null || conversationId !== null;

  return (
    <div class="page">
      <PageHead title="Tasks">
        {mayWrite && (
          <a class="button button-primary" href={hrefOf({ page: 'new-task', agent: null })}>
            <Icon name="plus" />
            New task
          </a>
        )}
      </PageHead>
      <div class="page-body tasks">
        <TaskFilters filter={filter} />
        {list.failure.value !== null && <p class="fault">{list.failure.value}</p>}
        {tasks === null && list.failure.value === null && <Loading what="tasks" />}
        {tasks?.length === 0 && !isFiltered && (
          <EmptyState icon="tasks" title="No tasks yet">
            <p>A task is one piece of work for an agent. Every message in a conversation begins one, too.</p>
            <a class="button" href={hrefOf({ page: 'new-task', agent: null })}>
              Start a task
            </a>
          </EmptyState>
        )}
        {tasks?.length === 0 && isFiltered && (
          <EmptyState icon="tasks" title="No task is like that">
            <a class="button" href="#/tasks">
              Show all tasks
            </a>
          </EmptyState>
        )}
        {tasks !== null && tasks.length > 0 && (
          <ul class="task-list" aria-label="Tasks">
            {tasks.map((task) => (
              <TaskRow key={task.id} task={task} />
            ))}
          </ul>
        )}
        {list.hasMore.value && (
          <button type="button" class="button list-more" onClick={() => void list.loadMore()}>
            Show older tasks
          </button>
        )}
      </div>
    </div>
  );
}
