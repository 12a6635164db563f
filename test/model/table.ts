import { type Batch, decideBatch, needsOf, type ResultOf, type VerbCall } from '../../src/model/batch.ts';
import type { EpochRow } from '../../src/model/epoch.ts';
import { type Event, newEvent } from '../../src/model/event.ts';
import type { QuestionRecord } from '../../src/model/question.ts';
import { isTerminal, type TaskRecord } from '../../src/model/task.ts';
import type { Outcome } from '../../src/model/verb.ts';
import { type KeyRecord, type LogRecord, type TimerRecord, View } from '../../src/model/view.ts';

/** 2026-01-01 at noon, UTC. */
export const NOON = Date.UTC(2026, 0, 1, 12);

/** What a view holds: the rows that the calls need and no others, newest first; or all of the owner's, oldest first. */
export type Loading = 'needed' | 'everything';

export type Ran<Result> = Omit<Batch, 'outcomes'> & { outcome: Outcome<Result> };

export type Records = Pick<Table, 'log' | 'epochs' | 'events' | 'tasks' | 'questions' | 'timers' | 'keys'>;

/** All records of one owner, in memory: what a store is to the model. Its clock stands still until it is moved. */
export class Table {
  now = NOON;
  epoch = 'epoch001';
  log: LogRecord = { owner: 'local', head: 0, prunedSeq: 0, epoch: null };
  readonly epochs: EpochRow[] = [];
  readonly tasks = new Map<string, TaskRecord>();
  readonly questions = new Map<string, QuestionRecord>();
  /** Open ones. */
  readonly timers = new Map<string, TimerRecord>();
  readonly keys = new Map<string, KeyRecord>();
  /** Every event there ever was. */
  readonly told: Event[] = [];
  /** Those that were not pruned. */
  events: Event[] = [];

  commit(calls: readonly VerbCall[], loading: Loading = 'needed'): Batch {
    const view = loading === 'needed' ? this.#viewOf(needsOf(calls)) : this.#wholeView();
    const batch = decideBatch(view, calls, this.epoch, this.now);
    this.#write(view, batch);
    return batch;
  }

  run<Call extends VerbCall>(call: Call, loading?: Loading): Ran<ResultOf<Call['verb']>> {
    const { outcomes, ...batch } = this.commit([call], loading);
    const [outcome] = outcomes as [Outcome<ResultOf<Call['verb']>>];
    return { ...batch, outcome };
  }

  /** A child of an unfinished task, with its first event, as if its parent had spawned it. */
  putChild(parentId: string, id: string): TaskRecord {
    const parent = this.task(parentId);
    const root = this.task(parent.rootId);
    const seq = this.log.head + 1;
    const data = { agent: 'child', input: null, parentId, retryOf: null };
    const event = { ...newEvent(id, 'task.created', data), seq, at: this.now, rootId: root.id };
    const child: TaskRecord = {
      ...parent,
      ...{ id, parentId, status: 'queued', attempt: 0, fence: 0, ranMs: 0, version: null, pendingQuestionCount: 0 },
      ...{ concurrencyKey: null, deadlineAt: null, runningSince: null, startedAt: null, progress: null },
      ...{ createdAt: this.now, firstSeq: seq, lastSeq: seq },
    };
    this.tasks.set(id, child);
    this.tasks.set(root.id, { ...root, lastSeq: seq });
    this.log = { ...this.log, head: seq };
    this.told.push(event);
    this.events.push(event);
    return child;
  }

  task(id: string): TaskRecord {
    return existing(this.tasks.get(id));
  }

  question(id: string): QuestionRecord {
    return existing(this.questions.get(id));
  }

  openTimers(taskId: string): TimerRecord[] {
    return [...this.timers.values()].filter((timer) => timer.taskId === taskId);
  }

  pendingQuestions(taskId: string): QuestionRecord[] {
    return [...this.questions.values()].filter((each) => each.taskId === taskId && each.resolution === null);
  }

  unfinishedChildren(taskId: string): TaskRecord[] {
    return [...this.tasks.values()].filter(({ parentId, status }) => parentId === taskId && !isTerminal(status));
  }

  /** Everything that is stored, as it is now. */
  records(): Records {
    const { log, tasks, questions, timers, keys } = this;
    return {
      ...{ log, epochs: [...this.epochs], events: [...this.events] },
      ...{ tasks: new Map(tasks), questions: new Map(questions), timers: new Map(timers), keys: new Map(keys) },
    };
  }

  #wholeView(): View {
    const view = new View(this.log);
    view.load({
      tasks: this.tasks.values(),
      questions: this.questions.values(),
      timers: this.timers.values(),
      keys: this.keys.values(),
    });
    return view;
  }

  #viewOf(needs: ReturnType<typeof needsOf>): View {
    const tasks = new Map<string, TaskRecord>();
    const questions = new Map<string, QuestionRecord>();
    const timers = new Map<string, TimerRecord>();

    const loadTask = (id: string) => {
      const task = this.tasks.get(id);
      if (task === undefined || tasks.has(id)) return;
      tasks.set(id, task);
      loadTask(task.rootId);
    };
    const loadTree = (id: string) => {
      loadTask(id);
      for (const question of this.pendingQuestions(id)) questions.set(question.id, question);
      for (const timer of this.openTimers(id)) timers.set(timerId(timer), timer);
      for (const child of this.unfinishedChildren(id)) loadTree(child.id);
    };

    for (const id of needs.tasks) loadTask(id);
    for (const id of needs.trees) loadTree(id);
    for (const id of needs.questions) {
      const question = this.questions.get(id);
      if (question === undefined) continue;
      questions.set(id, question);
      loadTask(question.taskId);
    }
    for (const id of needs.lanes) {
      const lane = this.tasks.get(id)?.concurrencyKey ?? null;
      for (const task of this.tasks.values()) {
        if (lane !== null && task.concurrencyKey === lane && task.status === 'running') loadTask(task.id);
      }
    }
    for (const key of needs.timers) {
      const timer = this.timers.get(timerId(key));
      loadTask(key.taskId);
      if (timer !== undefined) timers.set(timerId(timer), timer);
    }
    const view = new View(this.log);
    view.load({
      tasks: [...tasks.values()].reverse(),
      questions: [...questions.values()].reverse(),
      timers: [...timers.values()].reverse(),
      keys: needs.keys.flatMap((key) => this.keys.get(key) ?? []),
    });
    return view;
  }

  #write(view: View, { events, firstSeq }: Batch): void {
    for (const id of view.dirtyTasks) this.tasks.set(id, Object.freeze(existing(view.task(id))));
    for (const id of view.dirtyQuestions) this.questions.set(id, Object.freeze(existing(view.question(id))));
    for (const timer of view.dirtyTimerRecords()) {
      if (timer.open) this.timers.set(timerId(timer), timer);
      else this.timers.delete(timerId(timer));
    }
    for (const key of view.newKeys) this.keys.set(key.key, key);
    if (view.log.epoch !== this.log.epoch) this.epochs.push({ epoch: existing(view.log.epoch), firstSeq });
    this.log = view.log;
    this.told.push(...events);
    this.events.push(...events);
    for (const { rootId, upTo } of view.pruned) {
      this.events = this.events.filter((event) => event.rootId !== rootId || event.seq > upTo);
    }
  }
}

function timerId({ taskId, key }: { taskId: string; key: string }): string {
  return `${taskId} ${key}`;
}

function existing<T>(record: T | null | undefined): T {
  if (record === null || record === undefined) throw new Error('There is no such record.');
  return record;
}
