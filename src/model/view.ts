import type { QuestionRecord } from './question.ts';
import { isTerminal, type TaskRecord } from './task.ts';

/** What a verb must find loaded. Asking for a child brings its root as well. */
export interface Needs {
  /** Ids of tasks: their rows. */
  tasks?: readonly string[];
  /** Ids of tasks: their rows, and of them and all their unfinished descendants the pending questions and open timers. */
  trees?: readonly string[];
  /** Ids of questions: their rows and their tasks'. */
  questions?: readonly string[];
  /** Ids of tasks: the rows of the running tasks that share their `concurrencyKey`. */
  lanes?: readonly string[];
  /** One timer each: the row, and its task's. */
  timers?: readonly TimerKey[];
}

export interface TimerKey {
  taskId: string;
  /** The key under which the agent called `sleep`. */
  key: string;
}

/** A `sleep` that has not ended. `dueAt` is epoch ms. A closed timer is deleted. */
export interface TimerRecord extends TimerKey {
  dueAt: number;
  open: boolean;
}

/** The stored result of a request with an Idempotency-Key. */
export interface KeyRecord {
  key: string;
  /** Names the request: route, path and body. */
  fingerprint: string;
  /** JSON text of the verb's result. */
  result: string;
  at: number;
}

/** One owner's log: where it stands. */
export interface LogRecord {
  owner: string;
  /** The newest seq; 0 for an empty log. */
  head: number;
  /** The highest seq pruned out of the log; 0 when nothing was. */
  prunedSeq: number;
  /** The epoch of its newest `log_epoch` row; null before the first event. */
  epoch: string | null;
}

/** Whole records that replace those in the view. */
export interface Changes {
  tasks?: readonly TaskRecord[];
  questions?: readonly QuestionRecord[];
  timers?: readonly TimerRecord[];
  /** Roots whose events, of their whole trees, are deleted up to this seq. */
  prune?: readonly { rootId: string; upTo: number }[];
}

/**
 * The part of one owner's data that a batch of verbs works on. An engine loads it under the owner's lock; verbs decide
 * over it one after the other, each seeing the changes of those before; then the engine writes what is dirty.
 */
export class View {
  log: LogRecord;
  readonly dirtyTasks = new Set<string>();
  readonly dirtyQuestions = new Set<string>();
  readonly dirtyTimers = new Set<string>();
  readonly newKeys: KeyRecord[] = [];
  readonly pruned: { rootId: string; upTo: number }[] = [];
  readonly #loadedHead: number;
  readonly #tasks = new Map<string, TaskRecord>();
  readonly #questions = new Map<string, QuestionRecord>();
  readonly #timers = new Map<string, TimerRecord>();
  readonly #keys = new Map<string, KeyRecord>();

  constructor(log: LogRecord) {
    this.log = log;
    this.#loadedHead = log.head;
  }

  /** Puts in what was read from the store. A record that a verb has changed already is never overwritten. */
  load(rows: {
    tasks?: Iterable<TaskRecord>;
    questions?: Iterable<QuestionRecord>;
    timers?: Iterable<TimerRecord>;
    keys?: Iterable<KeyRecord>;
  }): void {
    for (const task of rows.tasks ?? []) if (!this.#tasks.has(task.id)) this.#tasks.set(task.id, task);
    for (const question of rows.questions ?? []) {
      if (!this.#questions.has(question.id)) this.#questions.set(question.id, question);
    }
    for (const timer of rows.timers ?? []) {
      if (!this.#timers.has(timerId(timer))) this.#timers.set(timerId(timer), timer);
    }
    for (const key of rows.keys ?? []) if (!this.#keys.has(key.key)) this.#keys.set(key.key, key);
  }

  task(id: string): TaskRecord | null {
    return this.#tasks.get(id) ?? null;
  }

  question(id: string): QuestionRecord | null {
    return this.#questions.get(id) ?? null;
  }

  timer(key: TimerKey): TimerRecord | null {
    return this.#timers.get(timerId(key)) ?? null;
  }

  idempotencyKey(key: string): KeyRecord | null {
    return this.#keys.get(key) ?? null;
  }

  /** The pending questions of a task whose tree is loaded, oldest first. */
  pendingQuestions(taskId: string): QuestionRecord[] {
    return [...this.#questions.values()]
      .filter((question) => question.taskId === taskId && question.resolution === null)
      .sort((a, b) => a.askedAt - b.askedAt || (a.id < b.id ? -1 : 1));
  }

  /** The open timers of a task whose tree is loaded. */
  openTimers(taskId: string): TimerRecord[] {
    return [...this.#timers.values()].filter((timer) => timer.taskId === taskId && timer.open);
  }

  /** The unfinished children of a task whose tree is loaded, oldest first. */
  unfinishedChildren(taskId: string): TaskRecord[] {
    return [...this.#tasks.values()]
      .filter((task) => task.parentId === taskId && !isTerminal(task.status))
      .sort((a, b) => a.firstSeq - b.firstSeq);
  }

  /**
   * Whether another running task holds the lane of this one, which must be loaded with its lane. The lane of a task that
   * is new in this batch could not be loaded: it counts as busy.
   */
  isLaneBusy(task: TaskRecord): boolean {
    if (task.concurrencyKey === null) return false;
    if (task.firstSeq > this.#loadedHead) return true;
    return [...this.#tasks.values()].some(
      (other) => other.id !== task.id && other.concurrencyKey === task.concurrencyKey && other.status === 'running',
    );
  }

  /** Lets later verbs of the batch see a decision, and marks what must be written. */
  apply(changes: Changes): void {
    for (const task of changes.tasks ?? []) {
      this.#tasks.set(task.id, task);
      this.dirtyTasks.add(task.id);
    }
    for (const question of changes.questions ?? []) {
      this.#questions.set(question.id, question);
      this.dirtyQuestions.add(question.id);
    }
    for (const timer of changes.timers ?? []) {
      this.#timers.set(timerId(timer), timer);
      this.dirtyTimers.add(timerId(timer));
    }
    for (const prune of changes.prune ?? []) {
      this.pruned.push(prune);
      this.log = { ...this.log, prunedSeq: Math.max(this.log.prunedSeq, prune.upTo) };
    }
  }

  applyKey(record: KeyRecord): void {
    this.#keys.set(record.key, record);
    this.newKeys.push(record);
  }

  dirtyTimerRecords(): TimerRecord[] {
    return [...this.#timers].filter(([id]) => this.dirtyTimers.has(id)).map(([, timer]) => timer);
  }
}

function timerId({ taskId, key }: TimerKey): string {
  return `${taskId} ${key}`;
}
