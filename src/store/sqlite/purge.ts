import type { Database } from 'better-sqlite3';

/** So many rows of a table go at once: no write holds the others up for long. */
const ROWS_AT_ONCE = 500;

/**
 * Deletes some rows of a deleted conversation, what refers to others first, and marks the conversation when none is left.
 * What it leaves for good is the event of the deletion, which readers are told.
 */
export function createPurge(db: Database): (conversation: number) => void {
  const some = `limit ${ROWS_AT_ONCE}`;
  const ofTasks = `select task.key from task join conversation on conversation.log = task.log
    and conversation.id = task.conversation_id where conversation.key = ?`;
  const steps = [
    // The results that requests with a key would be answered with again.
    `delete from idempotency_key where rowid in (select idempotency_key.rowid from idempotency_key join conversation
      on conversation.log = idempotency_key.log where conversation.key = ? and instr(result, conversation.id) > 0 ${some})`,
    `delete from event where rowid in
      (select rowid from event where conversation = ? and type <> 'conversation.deleted' ${some})`,
    `delete from message where key in (select key from message where conversation = ? ${some})`,
    `delete from question where key in (select key from question where task in (${ofTasks}) ${some})`,
    `delete from journal where rowid in (select rowid from journal where task in (${ofTasks}) ${some})`,
    // A worker may still run code of it; it lets go first.
    `delete from task where key in (${ofTasks} and held = 0 ${some})`,
  ].map((sql) => db.prepare<[number]>(sql));
  const isEmpty = db.prepare<[number], 1>(`${ofTasks} limit 1`).pluck();
  const mark = db.prepare<[number]>('update conversation set purged = 1 where key = ?');
  return (conversation) => {
    const isDone = steps.every((step) => step.run(conversation).changes < ROWS_AT_ONCE);
    if (isDone && isEmpty.get(conversation) === undefined) mark.run(conversation);
  };
}
