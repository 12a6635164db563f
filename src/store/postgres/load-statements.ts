import { selectColumns } from './columns.ts';
import type { ConversationRead } from './conversation-row.ts';
import { conversation } from './conversation-schema.ts';
import type { JournalRead } from './journal-row.ts';
import { type QuestionRead, SELECT_QUESTION } from './question-row.ts';
import { statement } from './statement.ts';
import type { TaskRead } from './task-row.ts';
import { journal, question, task } from './task-schema.ts';

// What a batch of one owner, who is `$1`, finds loaded. Each statement finds its log by the owner, so that all of them can
// travel behind the lock in one go. What is few is looked up one by one, each by its own index: `limit 1` and `offset 0` keep
// the planner from joining it in another way, which with an owner who has much would be to look through all of that.

export type RowRead = JournalRead & { taskId: string };

const LOG = '(select id from holdfast.log where owner = $1)';

/** Rows by ids, which may be named twice. */
const each = (table: 'task' | 'question' | 'conversation', ids: string) =>
  `unnest(${ids}) as wanted(id) cross join lateral (
    select * from holdfast.${table} where ${table}.log = ${LOG} and ${table}.id = wanted.id limit 1) as ${table}`;
const tasks = (ids: string) => `select ${selectColumns(task, 'task')}, $1 as owner from ${each('task', ids)}`;
const tasksByKeys = (keys: string) =>
  `select ${selectColumns(task, 'task')}, $1 as owner from holdfast.task where task.key = any(${keys})`;

/** Keys of the tasks that are named. */
const named = (ids: string) => `array(select task.key from ${each('task', ids)})`;

/** The same with all of their unfinished descendants; a column of each. */
const tree = (ids: string, column: 'id' | 'key') => `array(
  with recursive tree as (
    select task.id, task.key from ${each('task', ids)}
    union all select child.id, child.key from tree cross join lateral (
      select id, key from holdfast.task
        where task.log = ${LOG} and task.parent_id = tree.id and task.finished_at is null offset 0) as child
  ) select ${column} from tree)`;

/** Tasks by their ids, and their roots. */
export const TASKS = statement<TaskRead>(
  tasks(`$2::text[] || array(select root_id from ${each('task', '$2::text[]')} where parent_id is not null)`),
);

/** The tasks of questions, and their roots. */
export const TASKS_OF_QUESTIONS = statement<TaskRead>(
  tasks(`array(select unnest(array[task.id, task.root_id]) from ${each('question', '$2::text[]')}
    join holdfast.task on task.key = question.task)`),
);

/** Of the tasks that are named, all unfinished descendants, and the parents. */
export const TREES = statement<TaskRead>(
  tasks(`${tree('$2::text[]', 'id')}
    || array(select parent_id from ${each('task', '$2::text[]')} where parent_id is not null)`),
);

const FIRST_TURN = `select key from holdfast.task
  where task.log = ${LOG} and task.lane = lane.name and is_turn and finished_at is null order by key limit 1`;

/** Tasks that are held in the lanes of those that are named, and the first unfinished turns there. */
export const IN_LANES = statement<TaskRead>(
  `with lane as materialized (select distinct lane as name from ${each('task', '$2::text[]')} where lane is not null)
  ${tasksByKeys(`array(
    select other.key from lane cross join lateral (
      select key from holdfast.task
        where task.log = ${LOG} and task.lane = lane.name and task.held and task.lane is not null offset 0) as other
    union all select first.key from lane cross join lateral (${FIRST_TURN}) as first)`)}`,
);

/** The first unfinished turns of lanes. */
export const FIRST_TURNS = statement<TaskRead>(
  tasksByKeys(
    `array(select first.key from unnest($2::text[]) as lane(name) cross join lateral (${FIRST_TURN}) as first)`,
  ),
);

/** The newest children that tasks have spawned under keys: `$2` and `$3` are pairs. */
export const NEWEST_CHILDREN = statement<TaskRead>(
  tasksByKeys(`array(
    select newest.key from unnest($2::text[], $3::text[]) as spawn(parent, key) cross join lateral (
      select key from holdfast.task where task.log = ${LOG} and task.parent_id = spawn.parent
        and task.spawn_key = spawn.key order by key desc limit 1) as newest)`),
);

/** Ids of the unfinished roots of conversations. */
export const UNFINISHED_ROOTS = statement<{ id: string }>(
  `select task.id from unnest($2::text[]) as wanted(id) cross join lateral (
    select id from holdfast.task where log = ${LOG} and conversation_id = wanted.id and conversation_id is not null
      and status in ('queued', 'running', 'waiting') and parent_id is null offset 0) as task`,
);

/** Conversations by their ids `$2`, those of the tasks `$3`, and those of the questions `$4`. */
export const CONVERSATIONS = statement<ConversationRead>(
  `select ${selectColumns(conversation, 'conversation')} from ${each(
    'conversation',
    `$2::text[] || array(select conversation_id from ${each('task', '$3::text[]')} where conversation_id is not null)
      || array(select conversation_id from ${each('question', '$4::text[]')} where conversation_id is not null)`,
  )}`,
);

export const QUESTIONS = statement<QuestionRead>(
  `select ${selectColumns(question, 'question')}, task.id as "taskId" from ${each('question', '$2::text[]')}
    join holdfast.task on task.key = question.task`,
);

/** Of the tasks `$2`, and of the trees of those in `$3`. */
export const PENDING_QUESTIONS = statement<QuestionRead>(
  `${SELECT_QUESTION} where question.task = any(${named('$2::text[]')} || ${tree('$3::text[]', 'key')})
    and question.status = 'pending'`,
);

const ROW = `select ${selectColumns(journal, 'journal')}, task.id as "taskId"`;
const FROM_JOURNAL = 'from holdfast.journal join holdfast.task on task.key = journal.task';

/** Likewise. */
export const PENDING_ROWS = statement<RowRead>(
  `${ROW} ${FROM_JOURNAL} where journal.task = any(${named('$2::text[]')} || ${tree('$3::text[]', 'key')})
    and journal.status = 'pending'`,
);

/** Whole journals of tasks. */
export const JOURNALS = statement<RowRead>(`${ROW} ${FROM_JOURNAL} where journal.task = any(${named('$2::text[]')})`);

/** Rows of journals: `$2` and `$3` are pairs of a task and a key. */
export const ROWS = statement<RowRead>(
  `${ROW} from unnest($2::text[], $3::text[]) as wanted(task, key)
    cross join lateral (select key, id from holdfast.task where log = ${LOG} and id = wanted.task limit 1) as task
    join holdfast.journal on journal.task = task.key and journal.key = wanted.key`,
);

/** Of tasks that were spawned, the rows that wait for them. */
export const ROWS_OF_CHILDREN = statement<RowRead>(
  `${ROW} from (select parent_id, spawn_key from ${each('task', '$2::text[]')} where parent_id is not null) as child
    cross join lateral (select key, id from holdfast.task where log = ${LOG} and id = child.parent_id limit 1) as task
    join holdfast.journal on journal.task = task.key and journal.key = child.spawn_key || '>'`,
);

/** The rows that wait for questions. */
export const ROWS_OF_QUESTIONS = statement<RowRead>(
  `${ROW} from ${each('question', '$2::text[]')} join holdfast.task on task.key = question.task
    join holdfast.journal on journal.task = question.task and journal.key = question.name`,
);

/** What the tasks of trees have said in the messages that are not complete, a piece a row. */
export const DELTAS = statement<{ messageId: string; data: string }>(
  `select journal.message_id as "messageId", event.data ${FROM_JOURNAL}
    join holdfast.task as root on root.log = task.log and root.id = task.root_id
    cross join lateral (select seq, data from holdfast.event where event.root = root.key
      and event.seq > journal.message_after_seq and event.task = journal.task and event.type = 'message.delta' offset 0) as event
    where journal.task = any(${tree('$2::text[]', 'key')}) and journal.status = 'pending'
      and journal.message_id is not null
    order by event.seq`,
);

export const KEYS = statement<{ key: string; fingerprint: string; result: string; at: number }>(
  `select stored.* from unnest($2::text[]) as wanted(key) cross join lateral (
    select key, fingerprint, result, at from holdfast.idempotency_key where log = ${LOG} and key = wanted.key limit 1) as stored`,
);
