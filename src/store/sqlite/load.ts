import type { Database } from 'better-sqlite3';
import { needsOf, type VerbCall } from '../../model/batch.ts';
import type { QuestionRecord } from '../../model/question.ts';
import type { TaskRecord } from '../../model/task.ts';
import { type KeyRecord, type LogRecord, type TimerKey, type TimerRecord, View } from '../../model/view.ts';
import { type QuestionRead, SELECT_QUESTION, toQuestion } from './question-row.ts';
import { SELECT_TASK, type TaskRead, toTask } from './task-row.ts';

/** One owner's view, and what ties its records to their rows. */
export interface Loaded {
  view: View;
  /** The log's row; null while there is none. */
  logId: number | null;
  /** The log's epoch before the batch. */
  epoch: string | null;
  /** The loaded tasks as they were before the batch, by id. One that is not here is new. */
  tasks: ReadonlyMap<string, StoredTask>;
}

export interface StoredTask {
  key: number;
  record: TaskRecord;
}

export type Load = (owner: string, calls: readonly VerbCall[]) => Loaded;

/** Prepares the statements that fill a view with what verbs need, all of one owner. */
export function createLoad(db: Database): Load {
  const statements = prepare(db);
  return (owner, calls) => {
    const row = statements.log.get(owner);
    if (row === undefined) {
      const empty = { owner, head: 0, prunedSeq: 0, epoch: null };
      return { view: new View(empty), logId: null, epoch: null, tasks: new Map() };
    }
    const { id: logId, ...log } = row;
    const view = new View(log);
    const reader = new OwnerReader(statements, logId);
    reader.read(needsOf(calls));
    const { tasks, questions, timers, keys } = reader;
    view.load({ tasks: [...tasks.values()].map(({ record }) => record), questions, timers, keys });
    return { view, logId, epoch: log.epoch, tasks };
  };
}

/** Reads one owner's rows for one batch, each task once. */
class OwnerReader {
  readonly tasks = new Map<string, StoredTask>();
  readonly questions: QuestionRecord[] = [];
  readonly timers: TimerRecord[] = [];
  readonly keys: KeyRecord[] = [];
  readonly #statements: Statements;
  readonly #logId: number;

  constructor(statements: Statements, logId: number) {
    this.#statements = statements;
    this.#logId = logId;
  }

  read(needs: ReturnType<typeof needsOf>): void {
    for (const id of needs.tasks) this.#task(id);
    for (const id of needs.trees) this.#tree(id);
    for (const id of needs.questions) this.#question(id);
    for (const id of needs.lanes) this.#lane(id);
    for (const key of needs.timers) this.#timer(key);
    for (const key of needs.keys) this.#key(key);
  }

  #task(id: string): StoredTask | null {
    const known = this.tasks.get(id);
    if (known !== undefined) return known;
    const row = this.#statements.task.get(this.#logId, id);
    return row === undefined ? null : this.#add(row);
  }

  /** A child's events move its root's newest seq, so the root comes along. */
  #add(row: TaskRead): StoredTask {
    const task = { key: row.key, record: toTask(row) };
    this.tasks.set(row.id, task);
    this.#task(row.rootId);
    return task;
  }

  #tree(id: string): void {
    const task = this.#task(id);
    if (task === null) return;
    for (const row of this.#statements.pendingQuestions.all(task.key)) this.questions.push(toQuestion(row));
    for (const timer of this.#statements.timers.all(task.key)) this.timers.push({ ...timer, taskId: id, open: true });
    for (const childId of this.#statements.unfinishedChildren.all(this.#logId, id)) this.#tree(childId);
  }

  #question(id: string): void {
    const row = this.#statements.question.get(this.#logId, id);
    if (row === undefined) return;
    this.questions.push(toQuestion(row));
    this.#task(row.taskId);
  }

  #lane(id: string): void {
    const concurrencyKey = this.#task(id)?.record.concurrencyKey ?? null;
    if (concurrencyKey === null) return;
    for (const row of this.#statements.runningInLane.all(this.#logId, concurrencyKey)) {
      if (!this.tasks.has(row.id)) this.#add(row);
    }
  }

  #timer({ taskId, key }: TimerKey): void {
    const task = this.#task(taskId);
    if (task === null) return;
    const dueAt = this.#statements.timer.get(task.key, key);
    if (dueAt !== undefined) this.timers.push({ taskId, key, dueAt, open: true });
  }

  #key(key: string): void {
    const row = this.#statements.key.get(this.#logId, key);
    if (row !== undefined) this.keys.push(row);
  }
}

type Statements = ReturnType<typeof prepare>;

function prepare(db: Database) {
  return {
    log: db.prepare<[string], LogRecord & { id: number }>(
      'select id, owner, head, pruned_seq as prunedSeq, epoch from log where owner = ?',
    ),
    task: db.prepare<[number, string], TaskRead>(`${SELECT_TASK} where task.log = ? and task.id = ?`),
    unfinishedChildren: db
      .prepare<[number, string], string>(
        'select id from task where log = ? and parent_id = ? and finished_at is null order by key',
      )
      .pluck(),
    runningInLane: db.prepare<[number, string], TaskRead>(
      `${SELECT_TASK} where task.log = ? and task.concurrency_key = ? and task.status = 'running'`,
    ),
    question: db.prepare<[number, string], QuestionRead>(
      `${SELECT_QUESTION} where question.log = ? and question.id = ?`,
    ),
    pendingQuestions: db.prepare<[number], QuestionRead>(
      `${SELECT_QUESTION} where question.task = ? and question.status = 'pending' order by question.key`,
    ),
    timers: db.prepare<[number], { key: string; dueAt: number }>(
      'select key, due_at as dueAt from timer where task = ? order by due_at',
    ),
    timer: db.prepare<[number, string], number>('select due_at from timer where task = ? and key = ?').pluck(),
    key: db.prepare<[number, string], KeyRecord>(
      'select key, fingerprint, result, at from idempotency_key where log = ? and key = ?',
    ),
  };
}
