import type { Database } from 'better-sqlite3';
import type { Turn, TurnEntry } from '../../model/agent.ts';
import { entriesOf, type Told } from '../turn-entries.ts';

const MAX_TURNS = 50;
/** Of JSON, of all turns together. */
const MAX_CHARS = 512 * 1024;

interface Row {
  key: number;
  taskId: string;
  status: Turn['status'];
}

/**
 * Prepares the reading of a conversation's turns before a task, oldest first, out of their events.
 *
 * @returns to be called with the key of the task, and the ids of those that it is a retry of: they are the same turn
 */
export function createReadHistory(
  db: Database,
): (logId: number, conversationId: string, before: number, retried: ReadonlySet<string>) => Turn[] {
  const turns = db.prepare<[number, string, number], Row>(
    `select key, id as taskId, status from task indexed by turn_of_conversation
      where log = ? and conversation_id = ? and is_turn = 1 and key < ? order by key desc limit ${MAX_TURNS}`,
  );
  const events = db.prepare<[number, number], Told>(
    `select type, data from event where root = ? and task = ?
      and type in ('message.completed', 'tool.called', 'tool.returned') order by seq`,
  );
  const messages = db.prepare<[number], string>('select id from message where task = ?').pluck();
  const contents = db.prepare<[number], Omit<TurnEntry & { kind: 'message' }, 'kind'>>(
    'select role, content, status from message where task = ? order by key',
  );
  const saidIn = (key: number): TurnEntry[] => contents.all(key).map((message) => ({ kind: 'message', ...message }));
  /** Of a turn whose events are pruned what was said is left. */
  const entriesOfTurn = (key: number): TurnEntry[] => {
    const told = events.all(key, key);
    if (told.length === 0) return saidIn(key);
    return entriesOf(told, new Set(messages.all(key)));
  };
  return (logId, conversationId, before, retried) => {
    const told: Turn[] = [];
    let chars = 0;
    for (const { key, taskId, status } of turns.all(logId, conversationId, before)) {
      if (retried.has(taskId)) continue;
      const turn = { taskId, status, entries: entriesOfTurn(key) };
      chars += JSON.stringify(turn).length;
      if (chars <= MAX_CHARS) told.push(turn);
      // Of one that is too large by itself, what was said is told all the same.
      else if (told.length === 0) told.push({ taskId, status, entries: saidIn(key) });
      if (chars > MAX_CHARS) break;
    }
    return told.reverse();
  };
}
