import type { Link } from './link.ts';
import { statement } from './statement.ts';

/** So many rows of a table go at once: no write holds the others up for long. */
const ROWS_AT_ONCE = 500;

const SOME = `limit ${ROWS_AT_ONCE}`;
const TASKS = `select task.key from holdfast.task join holdfast.conversation on conversation.log = task.log
  and conversation.id = task.conversation_id where conversation.key = $1`;

const STEPS = [
  // The results that requests with a key would be answered with again.
  `delete from holdfast.idempotency_key where (log, key) in (select idempotency_key.log, idempotency_key.key
    from holdfast.idempotency_key join holdfast.conversation on conversation.log = idempotency_key.log
    where conversation.key = $1 and strpos(result, conversation.id) > 0 ${SOME})`,
  `delete from holdfast.event where (log, seq) in (select log, seq from holdfast.event
    where conversation = $1 and type <> 'conversation.deleted' ${SOME})`,
  `delete from holdfast.message where key = any(array(select key from holdfast.message where conversation = $1 ${SOME}))`,
  `delete from holdfast.question where key = any(array(
    select key from holdfast.question where task = any(array(${TASKS})) ${SOME}))`,
  `delete from holdfast.journal where (task, key) in (
    select task, key from holdfast.journal where task = any(array(${TASKS})) ${SOME})`,
  // A worker may still run code of it; it lets go first.
  `delete from holdfast.task where key = any(array(${TASKS} and not held ${SOME}))`,
].map((text) => statement(text));

const ANY_LEFT = statement<{ key: number }>(`${TASKS} limit 1`);
const MARK = statement('update holdfast.conversation set purged = true where key = $1');

/**
 * Deletes some rows of a deleted conversation, what refers to others first, and marks the conversation when none is left.
 * What it leaves for good is the event of the deletion, which readers are told.
 */
export async function purge(link: Link, conversation: number): Promise<void> {
  for (const step of STEPS) {
    const { count } = await link.ask(step, conversation);
    if (count >= ROWS_AT_ONCE) return;
  }
  const left = await link.ask(ANY_LEFT, conversation);
  if (left.length === 0) await link.ask(MARK, conversation);
}
