import type { Database } from 'better-sqlite3';
import { type Batch, KEY_LIFETIME_MS } from '../../model/batch.ts';
import type { Event } from '../../model/event.ts';
import type { LogRecord, TimerRecord, View } from '../../model/view.ts';
import { createUnblock } from './lanes.ts';
import type { Loaded } from './load.ts';
import { fromQuestion, INSERT_QUESTION } from './question-row.ts';
import { ALL_ASSIGNED, fromTask, hasTurned, INSERT_TASK, OFTEN_ASSIGNED, taskUpdate } from './task-row.ts';

export type Write = (loaded: Loaded, batch: Batch) => void;

/** Longer than `model/batch.ts` honours a key. */
const KEY_KEPT_MS = KEY_LIFETIME_MS + 60 * 60_000;
/** Old keys go a few with each new one, so that no write has many to delete. */
const KEYS_DROPPED_AT_ONCE = 4;

/** Prepares the statements that write what a batch has decided. */
export function createWrite(db: Database): Write {
  const statements = prepare(db);
  const unblock = createUnblock(db);

  return (loaded, batch) => {
    const { view } = loaded;
    if (isClean(view)) return;
    const logId = writeLog(loaded, batch);
    const keys = writeTasks(loaded, logId);
    for (const id of view.dirtyQuestions) {
      const question = existing(view.question(id));
      statements.question.run(fromQuestion(question, logId, keyOf(keys, question.taskId)));
    }
    for (const timer of view.dirtyTimerRecords()) writeTimer(timer, keyOf(keys, timer.taskId));
    writeEvents(batch.events, logId, keys);
    for (const { rootId, upTo } of view.pruned) statements.prune.run(keyOf(keys, rootId), upTo);
    for (const key of view.newKeys) statements.key.run({ ...key, logId });
    if (view.newKeys.length > 0) statements.dropKeys.run(batch.now - KEY_KEPT_MS);
  };

  function writeLog({ view, logId, epoch }: Loaded, batch: Batch): number {
    const id = logId === null ? Number(statements.newLog.run(view.log).lastInsertRowid) : logId;
    if (logId !== null) statements.log.run({ ...view.log, id });
    if (view.log.epoch !== epoch) statements.epoch.run(id, view.log.epoch, batch.firstSeq);
    return id;
  }

  /** @returns the rows' keys of all loaded and new tasks, by id */
  function writeTasks({ view, tasks }: Loaded, logId: number): Map<string, number> {
    const keys = new Map([...tasks].map(([id, { key }]) => [id, key]));
    const lanes = new Set<string>();
    for (const id of view.dirtyTasks) {
      const task = existing(view.task(id));
      const before = tasks.get(id)?.record;
      if (before === undefined) keys.set(id, Number(statements.newTask.run(fromTask(task, logId)).lastInsertRowid));
      else if (hasTurned(before, task)) statements.task.run(taskUpdate(task, logId));
      else statements.taskProgress.run(taskUpdate(task, logId));
      if (task.concurrencyKey !== null && task.status !== before?.status) lanes.add(task.concurrencyKey);
    }
    for (const lane of lanes) unblock(logId, lane);
    return keys;
  }

  function writeTimer({ key, dueAt, open }: TimerRecord, taskKey: number): void {
    if (open) statements.timer.run(taskKey, key, dueAt);
    else statements.closeTimer.run(taskKey, key);
  }

  function writeEvents(events: readonly Event[], logId: number, keys: Map<string, number>): void {
    for (const { seq, taskId, rootId, at, type, step, data } of events) {
      statements.event.run(logId, seq, keyOf(keys, taskId), keyOf(keys, rootId), at, type, step, data);
    }
  }
}

function prepare(db: Database) {
  return {
    newLog: db.prepare<[LogRecord]>(
      'insert into log (owner, head, pruned_seq, epoch) values (@owner, @head, @prunedSeq, @epoch)',
    ),
    log: db.prepare<[LogRecord & { id: number }]>(
      'update log set head = @head, pruned_seq = @prunedSeq, epoch = @epoch where id = @id',
    ),
    epoch: db.prepare<[number, string | null, number]>(
      'insert into log_epoch (log, epoch, first_seq) values (?, ?, ?)',
    ),
    newTask: db.prepare<[ReturnType<typeof fromTask>]>(INSERT_TASK),
    // A change of status takes the row out of the queue or into it: then its lane is looked at anew.
    task: db.prepare<[ReturnType<typeof taskUpdate>]>(
      `update task set ${ALL_ASSIGNED}, blocked = blocked and status = @status where log = @log and id = @id`,
    ),
    taskProgress: db.prepare<[ReturnType<typeof taskUpdate>]>(
      `update task set ${OFTEN_ASSIGNED} where log = @log and id = @id`,
    ),
    question: db.prepare<[ReturnType<typeof fromQuestion>]>(
      `${INSERT_QUESTION} on conflict (log, id) do update set status = excluded.status, resolved_at = excluded.resolved_at,
        resolved_by = excluded.resolved_by, reason = excluded.reason, answers = excluded.answers`,
    ),
    timer: db.prepare<[number, string, number]>(
      'insert into timer (task, key, due_at) values (?, ?, ?) on conflict (task, key) do update set due_at = excluded.due_at',
    ),
    closeTimer: db.prepare<[number, string]>('delete from timer where task = ? and key = ?'),
    event: db.prepare<[number, number, number, number, number, string, string | null, string]>(
      'insert into event (log, seq, task, root, at, type, step, data) values (?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    prune: db.prepare<[number, number]>('delete from event where root = ? and seq <= ?'),
    key: db.prepare<[{ logId: number; key: string; fingerprint: string; result: string; at: number }]>(
      `insert into idempotency_key (log, key, fingerprint, at, result) values (@logId, @key, @fingerprint, @at, @result)
        on conflict (log, key) do update set fingerprint = excluded.fingerprint, at = excluded.at, result = excluded.result`,
    ),
    dropKeys: db.prepare<[number]>(`delete from idempotency_key where at < ? limit ${KEYS_DROPPED_AT_ONCE}`),
  };
}

function isClean(view: View): boolean {
  const dirty = view.dirtyTasks.size + view.dirtyQuestions.size + view.dirtyTimers.size;
  return dirty + view.newKeys.length + view.pruned.length === 0;
}

function keyOf(keys: Map<string, number>, taskId: string): number {
  const key = keys.get(taskId);
  if (key === undefined) throw new Error(`A verb wrote something of ${taskId}, which is not loaded.`);
  return key;
}

function existing<T>(record: T | null): T {
  if (record === null) throw new Error('A verb marked a record dirty that is not in the view.');
  return record;
}
