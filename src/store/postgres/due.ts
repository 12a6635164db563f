import type { DueItem, HeldTask, Queries } from '../store.ts';
import type { Ask } from './ask.ts';
import { NOW_MS } from './database-clock.ts';
import { fromText } from './escape.ts';
import { SUSPECT_RUNNING } from './offered.ts';
import { statement } from './statement.ts';

interface DueRow {
  kind: DueItem['kind'];
  owner: string;
  id: string;
  key: string;
  fence: number;
  timeoutMs: number;
}

const OF_TASK = 'holdfast.task join holdfast.log on log.id = task.log';
const DUE = statement<DueRow>(`select kind, owner, id, key, fence, "timeoutMs" from (
    (${dueOf('question', 'expires_at', "question.id, '' as key, 0 as fence, 0::bigint", 'holdfast.question join holdfast.log on log.id = question.log', "status = 'pending' and")})
    union all
    (${dueOf('timer', 'due_at', 'task.id, journal.key, 0, 0::bigint', `holdfast.journal join holdfast.task on task.key = journal.task join holdfast.log on log.id = task.log`)})
    union all
    (${dueOf('ready', 'run_at', "task.id, '', 0, 0::bigint", OF_TASK)})
    union all
    (${dueOf('deadline', 'deadline_at', "task.id, '', fence, timeout_ms", OF_TASK)})
  ) as due order by at limit $1`);

const NEXT = statement<{ at: number | null }>(`select min(at) as at from (
    select min(expires_at) as at from holdfast.question where status = 'pending' and expires_at is not null
    union all select min(due_at) from holdfast.journal where due_at is not null
    union all select min(run_at) from holdfast.task where run_at is not null
    union all select min(deadline_at) from holdfast.task where deadline_at is not null) as next`);

const PRUNABLE = statement<{ owner: string; taskId: string }>(`select log.owner, task.id as "taskId" from ${OF_TASK}
    where prunable and finished_at < ${NOW_MS} - $1::bigint
    order by finished_at limit $2`);

/** What a task is told by that a worker may be running. */
export const SELECT_HELD = `select (select owner from holdfast.log where log.id = task.log) as owner, task.id as "taskId",
  fence, status, running_since as "runningSince" from holdfast.task`;
const OF_NOBODY = `not exists (select 1 from holdfast.node where node.id = task.node and dead_at is null)`;
const ORPHANS = statement<HeldTask>(`${SELECT_HELD} where held and ${OF_NOBODY} limit $1`);
const NEWEST_SUSPECTS = statement<HeldTask>(
  `${SELECT_HELD} where ${SUSPECT_RUNNING} and ${OF_NOBODY} order by running_since desc limit $1`,
);

/** What the loops ask for: what is due, what can be pruned, what dead nodes have left. All by partial indexes. */
export function createDue(ask: Ask): Pick<Queries, 'due' | 'nextDueAt' | 'prunable' | 'orphans' | 'newestSuspects'> {
  return {
    due: async (limit) => (await ask(DUE, limit)).map(toItem),
    nextDueAt: async () => (await ask(NEXT))[0]?.at ?? null,
    prunable: async (retentionMs, limit) => (await ask(PRUNABLE, Math.ceil(retentionMs), limit)).map(owned),
    orphans: async (limit) => (await ask(ORPHANS, limit)).map(owned),
    newestSuspects: async (limit) => (await ask(NEWEST_SUSPECTS, limit)).map(owned),
  };
}

/** The first of one kind, as `at kind owner id key fence timeoutMs`. */
function dueOf(kind: DueItem['kind'], column: string, values: string, from: string, where = ''): string {
  return `select ${column} as at, '${kind}' as kind, log.owner, ${values} as "timeoutMs" from ${from}
      where ${where} ${column} is not null and ${column} <= ${NOW_MS} order by ${column} limit $1`;
}

function toItem({ kind, id, key, fence, timeoutMs, ...row }: DueRow): DueItem {
  const owner = fromText(row.owner);
  switch (kind) {
    case 'question':
      return { owner, kind, questionId: id };
    case 'timer':
      return { owner, kind, taskId: id, key: fromText(key) };
    case 'ready':
      return { owner, kind, taskId: id };
    case 'deadline':
      return { owner, kind, taskId: id, fence, timeoutMs };
  }
}

/** With its owner's name as it is. */
export function owned<T extends { owner: string }>(row: T): T {
  return { ...row, owner: fromText(row.owner) };
}
