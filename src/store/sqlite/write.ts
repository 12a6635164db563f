import type { Database } from 'better-sqlite3';
import { type Batch, KEY_LIFETIME_MS } from '../../model/batch.ts';
import type { Event } from '../../model/event.ts';
import type { LogRecord } from '../../model/log-record.ts';
import type { View } from '../../model/view.ts';
import { isInLine, movesLane } from '../lane-moves.ts';
import { claimableCount } from '../offered.ts';
import { hasTurned } from '../task-changes.ts';
import { fromConversation, PUT_CONVERSATION } from './conversation-row.ts';
import { fromRow, PUT_ROW } from './journal-row.ts';
import { createUnblock } from './lanes.ts';
import type { Loaded } from './load.ts';
import { fromMessage, PUT_MESSAGE } from './message-row.ts';
import { createPurge } from './purge.ts';
import { fromQuestion, INSERT_QUESTION } from './question-row.ts';
import { ALL_ASSIGNED, fromTask, INSERT_TASK, OFTEN_ASSIGNED, taskProgress, taskUpdate } from './task-row.ts';

export type Write = (loaded: Loaded, batch: Batch) => void;

/** Longer than `model/batch.ts` honours a key. */
const KEY_KEPT_MS = KEY_LIFETIME_MS + 60 * 60_000;
/** What stands for the task of an event that has none. */
const NO_TASK = 0;
/** Old keys go a few with each new one, so that no write has many to delete. */
const KEYS_DROPPED_AT_ONCE = 4;

/** Prepares the statements that write what a batch has decided. */
export function createWrite(db: Database): Write {
  const statements = prepare(db);
  const unblock = createUnblock(db);
  const purge = createPurge(db);

  return (loaded, batch) => {
    const { view } = loaded;
    if (isClean(view)) return;
    const logId = writeLog(loaded, batch);
    const conversations = writeConversations(loaded, logId);
    const keys = writeTasks(loaded, logId);
    for (const id of view.dirtyQuestions) {
      const question = existing(view.question(id));
      statements.question.run(fromQuestion(question, logId, keyOf(keys, question.taskId)));
    }
    for (const message of view.dirtyMessages.values()) {
      const conversation = keyOf(conversations, message.conversationId ?? '');
      statements.message.run(fromMessage(message, logId, keyOf(keys, message.taskId), conversation));
    }
    writeJournals(view, keys);
    writeEvents(batch.events, logId, keys, conversations);
    for (const { rootId, upTo } of view.pruned) {
      statements.prune.run(keyOf(keys, rootId), upTo);
      statements.pruneJournals.run({ logId, rootId, root: keyOf(keys, rootId) });
    }
    for (const id of view.purged) purge(keyOf(conversations, id));
    for (const key of view.newKeys) statements.key.run({ ...key, logId });
    if (view.newKeys.length > 0) statements.dropKeys.run(batch.now - KEY_KEPT_MS);
  };

  function writeLog({ view, logId, epoch }: Loaded, batch: Batch): number {
    const id = logId === null ? Number(statements.newLog.run(view.log).lastInsertRowid) : logId;
    if (logId !== null) statements.log.run({ ...view.log, id });
    if (view.log.epoch !== epoch) statements.epoch.run(id, view.log.epoch, batch.firstSeq);
    return id;
  }

  /** @returns the rows' keys of all loaded and new conversations, by id */
  function writeConversations({ view, conversationKeys }: Loaded, logId: number): Map<string, number> {
    const keys = new Map(conversationKeys);
    for (const id of view.dirtyConversations) {
      const row = fromConversation(existing(view.conversationRow(id)), logId);
      const written = statements.conversation.run(row);
      if (!keys.has(id)) keys.set(id, Number(written.lastInsertRowid));
    }
    return keys;
  }

  /** @returns the rows' keys of all loaded and new tasks, by id */
  function writeTasks({ view, tasks }: Loaded, logId: number): Map<string, number> {
    const keys = new Map([...tasks].map(([id, { key }]) => [id, key]));
    const lanes = new Set<string>();
    let claimable = 0;
    let claimed = false;
    for (const id of view.dirtyTasks) {
      const record = existing(view.task(id));
      const before = tasks.get(id);
      const turned = before === undefined || hasTurned(before.record, record);
      const blocked = (before?.blocked ?? false) && isInLine(record);
      if (before === undefined) keys.set(id, Number(statements.newTask.run(fromTask(record, logId)).lastInsertRowid));
      else if (turned) statements.task.run(taskUpdate(record, logId, blocked));
      else statements.taskProgress.run(taskProgress(record, logId));
      if (!turned) continue;
      claimable += claimableCount({ record, blocked }) - (before === undefined ? 0 : claimableCount(before));
      claimed ||= record.fence > (before?.record.fence ?? 0);
      if (record.lane !== null && movesLane(before?.record, record)) lanes.add(record.lane);
    }
    for (const lane of lanes) claimable += unblock(logId, lane);
    if (claimable !== 0) statements.claimable.run(claimable, logId);
    if (claimed) statements.turn.run(logId);
    return keys;
  }

  function writeJournals(view: View, keys: Map<string, number>): void {
    // First what goes: its places are given again.
    for (const { taskId, key } of view.droppedRows.values()) statements.dropRow.run(keyOf(keys, taskId), key);
    for (const row of view.dirtyRows.values()) statements.row.run(fromRow(row, keyOf(keys, row.taskId)));
  }

  function writeEvents(
    events: readonly Event[],
    logId: number,
    keys: Map<string, number>,
    conversations: Map<string, number>,
  ): void {
    for (const { seq, taskId, rootId, conversationId, at, type, step, data } of events) {
      const task = taskId === null ? NO_TASK : keyOf(keys, taskId);
      const root = rootId === null ? NO_TASK : keyOf(keys, rootId);
      const conversation = conversationId === null ? null : keyOf(conversations, conversationId);
      statements.event.run(logId, seq, task, root, conversation, at, type, step, data);
    }
  }
}

function prepare(db: Database) {
  return {
    newLog: db.prepare<[LogRecord]>(
      // Behind all who wait: else a stream of new owners would keep their turn from the others.
      `insert into log (owner, head, pruned_seq, epoch, unfinished_roots, pending_questions, claimable, turn)
        values (@owner, @head, @prunedSeq, @epoch, @unfinishedRoots, @pendingQuestions, 0,
          (select ifnull(max(turn), 0) from log))`,
    ),
    log: db.prepare<[LogRecord & { id: number }]>(
      `update log set head = @head, pruned_seq = @prunedSeq, epoch = @epoch, unfinished_roots = @unfinishedRoots,
        pending_questions = @pendingQuestions where id = @id`,
    ),
    epoch: db.prepare<[number, string | null, number]>(
      'insert into log_epoch (log, epoch, first_seq) values (?, ?, ?)',
    ),
    claimable: db.prepare<[number, number]>('update log set claimable = claimable + ? where id = ?'),
    turn: db.prepare<[number]>('update log set turn = (select max(turn) + 1 from log) where id = ?'),
    newTask: db.prepare<[ReturnType<typeof fromTask>]>(INSERT_TASK),
    task: db.prepare<[ReturnType<typeof taskUpdate>]>(`update task set ${ALL_ASSIGNED} where log = @log and id = @id`),
    taskProgress: db.prepare<[ReturnType<typeof taskProgress>]>(
      `update task set ${OFTEN_ASSIGNED} where log = @log and id = @id`,
    ),
    question: db.prepare<[ReturnType<typeof fromQuestion>]>(
      `${INSERT_QUESTION} on conflict (log, id) do update set status = excluded.status, resolved_at = excluded.resolved_at,
        resolved_by = excluded.resolved_by, reason = excluded.reason, answers = excluded.answers`,
    ),
    row: db.prepare<[ReturnType<typeof fromRow>]>(PUT_ROW),
    dropRow: db.prepare<[number, string]>('delete from journal where task = ? and key = ?'),
    conversation: db.prepare<[ReturnType<typeof fromConversation>]>(PUT_CONVERSATION),
    message: db.prepare<[ReturnType<typeof fromMessage>]>(PUT_MESSAGE),
    event: db.prepare<[number, number, number, number, number | null, number, string, string | null, string]>(
      'insert into event (log, seq, task, root, conversation, at, type, step, data) values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    prune: db.prepare<[number, number]>('delete from event where root = ? and seq <= ?'),
    pruneJournals: db.prepare<[{ logId: number; rootId: string; root: number }]>(
      `delete from journal where task = @root
        or task in (select key from task where log = @logId and root_id = @rootId and parent_id is not null)`,
    ),
    key: db.prepare<[{ logId: number; key: string; fingerprint: string; result: string; at: number }]>(
      `insert into idempotency_key (log, key, fingerprint, at, result) values (@logId, @key, @fingerprint, @at, @result)
        on conflict (log, key) do update set fingerprint = excluded.fingerprint, at = excluded.at, result = excluded.result`,
    ),
    dropKeys: db.prepare<[number]>(`delete from idempotency_key where at < ? limit ${KEYS_DROPPED_AT_ONCE}`),
  };
}

function isClean(view: View): boolean {
  const { dirtyTasks, dirtyQuestions, dirtyConversations, dirtyRows, droppedRows, newKeys, pruned, purged } = view;
  const dirty = dirtyTasks.size + dirtyQuestions.size + dirtyConversations.size + dirtyRows.size + droppedRows.size;
  return dirty + newKeys.length + pruned.length + purged.length === 0;
}

function keyOf(keys: Map<string, number>, id: string): number {
  const key = keys.get(id);
  if (key === undefined) throw new Error(`A verb wrote something of ${id}, which is not loaded.`);
  return key;
}

function existing<T>(record: T | null): T {
  if (record === null) throw new Error('A verb marked a record dirty that is not in the view.');
  return record;
}
