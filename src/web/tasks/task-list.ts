import { batch, effect, type ReadonlySignal, signal } from '@preact/signals';
import type { Client, LogEvent, Task } from '../../client/index.ts';
import type { Overview } from '../overview/overview.ts';
import type { TaskFilter } from '../route.ts';
import { failureWords } from '../words/failure.ts';
import { mergedTasks, withTaskEvent } from './merged-tasks.ts';

/** The tasks that a filter lets through, newest first, as they come and change. */
export interface TaskList {
  /** Null until they have been read. */
  readonly tasks: ReadonlySignal<readonly Task[] | null>;
  readonly failure: ReadonlySignal<string | null>;
  readonly hasMore: ReadonlySignal<boolean>;
  loadMore(): Promise<void>;
  close(): void;
}

const PAGE_SIZE = 50;
/** How long what happens is gathered before the newest page is read again. */
const GATHER_MS = 500;

export function createTaskList(client: Client, overview: Overview, filter: TaskFilter): TaskList {
  const tasks = signal<readonly Task[] | null>(null);
  const failure = signal<string | null>(null);
  const hasMore = signal(false);
  const closing = new AbortController();
  let nextPage: string | null = null;
  let readings = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function readPage(page: string | null) {
    const { status, agent, conversationId } = filter;
    const query = {
      limit: PAGE_SIZE,
      ...(status !== null && { status: [status] }),
      ...(agent !== null && { agent }),
      ...(conversationId !== null && { conversationId }),
      ...(page !== null && { page }),
    };
    return client.tasks.list(query, { signal: closing.signal });
  }

  async function readNewest(): Promise<void> {
    const reading = ++readings;
    try {
      const { items, nextPage: next } = await readPage(null);
      // An answer that was overtaken tells of an earlier moment.
      if (reading !== readings) return;
      batch(() => {
        if (tasks.value === null) setNextPage(next);
        tasks.value = mergedTasks(items, tasks.value ?? [], filter);
        failure.value = null;
      });
    } catch (error) {
      if (!closing.signal.aborted) failure.value = failureWords(error);
    }
  }

  function setNextPage(page: string | null): void {
    nextPage = page;
    hasMore.value = page !== null;
  }

  function onEvent(event: LogEvent): void {
    if (!event.type.startsWith('task.')) return;
    if (tasks.value !== null) tasks.value = withTaskEvent(tasks.value, event, filter);
    if (event.type === 'task.progress') return;
    timer ??= setTimeout(() => {
      timer = undefined;
      void readNewest();
    }, GATHER_MS);
  }

  const endEvents = overview.onEvent(onEvent);
  const endReadings = effect(() => {
    overview.readings.value;
    void readNewest();
  });
  return {
    tasks,
    failure,
    hasMore,
    async loadMore() {
      if (nextPage === null) return;
      const { items, nextPage: next } = await readPage(nextPage);
      setNextPage(next);
      const known = new Set(tasks.value?.map(({ id }) => id));
      tasks.value = [...(tasks.value ?? []), ...items.filter(({ id }) => !known.has(id))];
    },
    close() {
      closing.abort();
      clearTimeout(timer);
      endEvents();
      endReadings();
    },
  };
}
