import { selectColumns } from './columns.ts';
import { type ConversationRead, SELECT_CONVERSATION } from './conversation-row.ts';
import type { JournalRead } from './journal-row.ts';
import { type QuestionRead, SELECT_QUESTION } from './question-row.ts';
import { statement } from './statement.ts';
import type { TaskRead } from './task-row.ts';
import { journal, task } from './task-schema.ts';

// What a batch of one owner, who is `$1`, finds loaded. Each statement finds its log by the owner, so that all of them can
// travel behind the lock in one go, and gives its rows by arrays of ids or keys, so that each is one look into an index.

export type RowRead = JournalRead & { taskId: string };

const LOG = '(select id from holdfast.log where owner = $1)';
const TASK = `select ${selectColumns(task, 'task')}, $1 as owner from holdfast.task`;
const ROW = `select ${selectColumns(journal, 'journal')}, task.id as "taskId" from holdfast.journal
  join holdfast.task on task.key = journal.task`;

/** Keys of the tasks that are named. */
const named = (ids: string) => `array(select key from holdfast.task where log = ${LOG} and id = any(${ids}::text[]))`;

/** The same with all of their unfinished descendants; a column of each. */
const tree = (ids: string, column: 'id' | 'key') => `array(
  with recursive tree as (
    select id, key from holdfast.task where log = ${LOG} and id = any(${ids}::text[])
    union all select child.id, child.key from tree join holdfast.task as child
      on child.log = ${LOG} and child.parent_id = tree.id and child.finished_at is null
  ) select ${column} from tree)`;

/** Tasks by their ids, and their roots. */
export const TASKS = statement<TaskRead>(
  `${TASK} where task.log = ${LOG} and task.id = any($2::text[] || array(
    select root_id from holdfast.task where log = ${LOG} and id = any($2::text[]) and parent_id is not null))`,
);

/** The tasks of questions, and their roots. */
export const TASKS_OF_QUESTIONS = statement<TaskRead>(
  `${TASK} where task.log = ${LOG} and task.id = any(array(
    select unnest(array[task.id, task.root_id]) from holdfast.question join holdfast.task on task.key = question.task
      where question.log = ${LOG} and question.id = any($2::text[])))`,
);

/** Of the tasks that are named, all unfinished descendants, and the parents. */
export const TREES = statement<TaskRead>(
  `${TASK} where task.log = ${LOG} and task.id = any(${tree('$2', 'id')} || array(
    select parent_id from holdfast.task where log = ${LOG} and id = any($2::text[]) and parent_id is not null))`,
);

/** Tasks that are held in the lanes of those that are named, and the first unfinished turns there. */
export const IN_LANES = statement<TaskRead>(
  `with lane as materialized (
    select distinct lane from holdfast.task where log = ${LOG} and id = any($2::text[]) and lane is not null)
  ${TASK} where task.key = any(array(
    select other.key from lane join holdfast.task as other
      on other.log = ${LOG} and other.lane = lane.lane and other.held and other.lane is not null
    union all select first.key from lane cross join lateral (
      select key from holdfast.task where task.log = ${LOG} and task.lane = lane.lane and is_turn and finished_at is null
        order by key limit 1) as first))`,
);

/** The first unfinished turns of lanes. */
export const FIRST_TURNS = statement<TaskRead>(
  `${TASK} where task.key = any(array(select first.key from unnest($2::text[]) as lane(name) cross join lateral (
    select key from holdfast.task where task.log = ${LOG} and task.lane = lane.name and is_turn and finished_at is null
      order by key limit 1) as first))`,
);

/** The newest children that tasks have spawned under keys: `$2` and `$3` are pairs. */
export const NEWEST_CHILDREN = statement<TaskRead>(
  `${TASK} where task.key = any(array(
    select newest.key from unnest($2::text[], $3::text[]) as spawn(parent, key) cross join lateral (
      select key from holdfast.task where task.log = ${LOG} and task.parent_id = spawn.parent
        and task.spawn_key = spawn.key order by key desc limit 1) as newest))`,
);

/** Ids of the unfinished roots of conversations. */
export const UNFINISHED_ROOTS = statement<{ id: string }>(
  `select id from holdfast.task where log = ${LOG} and conversation_id = any($2::text[]) and conversation_id is not null
    and status in ('queued', 'running', 'waiting') and parent_id is null`,
);

/** Conversations by their ids `$2`, those of the tasks `$3`, and those of the questions `$4`. */
export const CONVERSATIONS = statement<ConversationRead>(
  `${SELECT_CONVERSATION} where conversation.log = ${LOG} and conversation.id = any($2::text[]
    || array(select conversation_id from holdfast.task where log = ${LOG} and id = any($3::text[]))
    || array(select conversation_id from holdfast.question where log = ${LOG} and id = any($4::text[])))`,
);

export const QUESTIONS = statement<QuestionRead>(
  `${SELECT_QUESTION} where question.log = ${LOG} and question.id = any($2::text[])`,
);

/** Of the tasks `$2`, and of the trees of those in `$3`. */
export const PENDING_QUESTIONS = statement<QuestionRead>(
  `${SELECT_QUESTION} where question.task = any(${named('$2')} || ${tree('$3', 'key')}) and question.status = 'pending'`,
);

/** Likewise. */
export const PENDING_ROWS = statement<RowRead>(
  `${ROW} where journal.task = any(${named('$2')} || ${tree('$3', 'key')}) and journal.status = 'pending'`,
);

/** Whole journals of tasks. */
export const JOURNALS = statement<RowRead>(`${ROW} where journal.task = any(${named('$2')})`);

/** Rows of journals: `$2` and `$3` are pairs of a task and a key. */
export const ROWS = statement<RowRead>(
  `select ${selectColumns(journal, 'journal')}, task.id as "taskId" from unnest($2::text[], $3::text[]) as wanted(task, key)
    join holdfast.task on task.log = ${LOG} and task.id = wanted.task
    join holdfast.journal on journal.task = task.key and journal.key = wanted.key`,
);

/** Of tasks that were spawned, the rows that wait for them. */
export const ROWS_OF_CHILDREN = statement<RowRead>(
  `select ${selectColumns(journal, 'journal')}, task.id as "taskId" from holdfast.task as child
    join holdfast.task on task.log = child.log and task.id = child.parent_id
    join holdfast.journal on journal.task = task.key and journal.key = child.spawn_key || '>'
    where child.log = ${LOG} and child.id = any($2::text[])`,
);

/** The rows that wait for questions. */
export const ROWS_OF_QUESTIONS = statement<RowRead>(
  `select ${selectColumns(journal, 'journal')}, task.id as "taskId" from holdfast.question
    join holdfast.task on task.key = question.task
    join holdfast.journal on journal.task = question.task and journal.key = question.name
    where question.log = ${LOG} and question.id = any($2::text[])`,
);

/** What the tasks of trees have said in the messages that are not complete, a piece a row. */
export const DELTAS = statement<{ messageId: string; data: string }>(
  `select journal.message_id as "messageId", event.data from holdfast.journal
    join holdfast.task on task.key = journal.task
    join holdfast.task as root on root.log = task.log and root.id = task.root_id
    join holdfast.event on event.root = root.key and event.seq > journal.message_after_seq
      and event.task = journal.task and event.type = 'message.delta'
    where journal.task = any(${tree('$2', 'key')}) and journal.status = 'pending' and journal.message_id is not null
    order by event.seq`,
);

export const KEYS = statement<{ key: string; fingerprint: string; result: string; at: number }>(
  `select key, fingerprint, result, at from holdfast.idempotency_key where log = ${LOG} and key = any($2::text[])`,
);
