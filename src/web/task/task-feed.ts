import { batch, type ReadonlySignal, signal } from '@preact/signals';
import { type Client, isServerEvent, type LogEvent, type Task } from '../../client/index.ts';
import { createBreath } from '../breath.ts';
import { isLogEvent } from '../log-event.ts';
import { failureWords } from '../words/failure.ts';
import { createSpans, type TaskSpans } from './spans.ts';

/** A task as it is now, with all of its events. */
export interface TaskFeed {
  /** Null until it has been read. */
  readonly task: ReadonlySignal<Task | null>;
  /** The list grows in place; a new `count` says so. */
  readonly events: readonly LogEvent[];
  readonly count: ReadonlySignal<number>;
  readonly spans: ReadonlySignal<TaskSpans>;
  /** Whether events of it have been removed, as old ones are. */
  readonly isPruned: ReadonlySignal<boolean>;
  readonly failure: ReadonlySignal<string | null>;
  /** Shows a newer task, such as a verb gave back. */
  show(task: Task): void;
  close(): void;
}

/** How long events are gathered before they are shown. */
const SHOW_MS = 100;

export function createTaskFeed(client: Client, id: string): TaskFeed {
  const closing = new AbortController();
  const task = signal<Task | null>(null);
  const count = signal(0);
  const spans = signal<TaskSpans>({ spans: [], marks: [] });
  const isPruned = signal(false);
  const failure = signal<string | null>(null);
  const events: LogEvent[] = [];
  const breath = createBreath();
  let builder = createSpans();
  let showTimer: ReturnType<typeof setTimeout> | undefined;
  let isStale = false;
  let readings = 0;

  async function readTask(): Promise<void> {
    isStale = false;
    const reading = ++readings;
    const read = await client.tasks.get(id, { signal: closing.signal });
    // An answer that was overtaken tells of an earlier moment.
    if (reading === readings) task.value = read;
  }

  async function follow(): Promise<void> {
    await readTask();
    for await (const item of client.events({ taskId: id, after: '0', signal: closing.signal })) {
      if (item.type === 'reset') {
        isPruned.value = true;
        events.length = 0;
        builder = createSpans();
      } else if (isLogEvent(item)) add(item);
      showSoon();
      await breath();
    }
    show();
    await readTask();
  }

  function add(event: LogEvent): void {
    events.push(event);
    builder.add(event);
    if (event.taskId !== id || !isServerEvent(event)) return;
    if (event.type === 'task.progress') {
      if (task.value !== null) task.value = { ...task.value, progress: event.data };
    } else if (/^(task|question)\./.test(event.type)) isStale = true;
  }

  function showSoon(): void {
    showTimer ??= setTimeout(show, SHOW_MS);
  }

  function show(): void {
    clearTimeout(showTimer);
    showTimer = undefined;
    batch(() => {
      count.value = events.length;
      spans.value = builder.read();
    });
    if (isStale) {
      readTask().catch(() => {
        isStale = true; // The next event asks again.
      });
    }
  }

  function fail(error: unknown): void {
    if (!closing.signal.aborted) failure.value = failureWords(error);
  }

  follow().catch(fail);
  return {
    task,
    events,
    count,
    spans,
    isPruned,
    failure,
    show(newer) {
      task.value = newer;
    },
    close() {
      closing.abort();
      clearTimeout(showTimer);
    },
  };
}
