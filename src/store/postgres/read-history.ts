import type { Turn, TurnEntry } from '../../model/agent.ts';
import { entriesOf, type Told } from '../turn-entries.ts';
import { fromText } from './escape.ts';
import type { Link } from './link.ts';
import { statement } from './statement.ts';

type MessageEntry = TurnEntry & { kind: 'message' };

const MAX_TURNS = 50;
/** So many are read at once: mostly the newest few are all that is told. */
const TURNS_AT_ONCE = 10;
/** Of JSON, of all turns together. */
const MAX_CHARS = 512 * 1024;

interface TurnRow {
  key: number;
  taskId: string;
  status: Turn['status'];
}

type ToldOfTask = Told & { task: number };

interface Said extends Omit<MessageEntry, 'kind'> {
  task: number;
  id: string;
}

const TURNS = statement<TurnRow>(
  `select key, id as "taskId", status from holdfast.task
    where log = (select id from holdfast.log where owner = $1) and conversation_id = $2 and is_turn and key < $3
    order by key desc limit ${MAX_TURNS}`,
);
const TOLD = statement<ToldOfTask>(
  `select task, type, data from holdfast.event where root = any($1::bigint[]) and task = root
    and type in ('message.completed', 'tool.called', 'tool.returned') order by seq`,
);
const SAID = statement<Said>(
  'select task, id, role, content, status from holdfast.message where task = any($1::bigint[]) order by key',
);

/**
 * Reads a conversation's turns before a task, oldest first, out of their events.
 *
 * @param owner as it is stored
 * @param before the key of the task
 * @param retried ids of those that it is a retry of: they are the same turn
 */
export async function readHistory(
  link: Link,
  owner: string,
  conversationId: string,
  before: number,
  retried: ReadonlySet<string>,
): Promise<Turn[]> {
  const turns = (await link.ask(TURNS, owner, conversationId, before)).filter(({ taskId }) => !retried.has(taskId));
  const told: Turn[] = [];
  let chars = 0;
  for (let at = 0; at < turns.length; at += TURNS_AT_ONCE) {
    const some = turns.slice(at, at + TURNS_AT_ONCE);
    const keys = some.map(({ key }) => key);
    const [events, messages] = await Promise.all([link.ask(TOLD, keys), link.ask(SAID, keys)]);
    for (const { key, taskId, status } of some) {
      const said = messages.filter(({ task }) => task === key);
      const turn = { taskId, status, entries: entriesOfTurn(ofTask(events, key), said) };
      chars += JSON.stringify(turn).length;
      if (chars <= MAX_CHARS) told.push(turn);
      // Of one that is too large by itself, what was said is told all the same.
      else if (told.length === 0) told.push({ taskId, status, entries: said.map(entryOf) });
      if (chars > MAX_CHARS) return told.reverse();
    }
  }
  return told.reverse();
}

function ofTask(events: readonly ToldOfTask[], key: number): ToldOfTask[] {
  return events.filter(({ task }) => task === key);
}

/** Of a turn whose events are pruned what was said is left. */
function entriesOfTurn(told: readonly ToldOfTask[], said: readonly Said[]): TurnEntry[] {
  return told.length === 0 ? said.map(entryOf) : entriesOf(told, new Set(said.map(({ id }) => id)));
}

function entryOf({ role, content, status }: Said): TurnEntry {
  return { kind: 'message', role, content: fromText(content), status };
}
