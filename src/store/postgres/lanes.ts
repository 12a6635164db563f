import { isTurnLane } from '../../model/lane.ts';
import { SUSPECT_CRASHES } from '../offered.ts';
import { toText } from './escape.ts';
import { type Asked, type Statement, statement } from './statement.ts';

const QUEUED = `task.status = 'queued' and task.run_at is null and task.lane is not null`;
const COUNTED = `returning not held and crashes < ${SUSPECT_CRASHES} as counts`;

/**
 * Of the queued tasks of a lane, only the first in line is offered to claims, and only while none of the others is held:
 * the others are marked `blocked`, so that ten thousand of them cost a claim nothing. One that waits for its `runAt` is not
 * in line yet.
 *
 * @param head gives the key of the first of a `lane`, if it may begin
 * @param blocked what else must be true of those behind it
 */
function unblock(head: string, blocked: string): Statement<never> {
  return statement(
    `with lane as materialized (
        select given.name, (${head}) as head from unnest($2::text[]) as given(name)),
      freed as (update holdfast.task set blocked = false from lane where task.key = lane.head and task.blocked ${COUNTED}),
      behind as (select other.key from lane cross join lateral (
        select key from holdfast.task where task.log = $1 and task.lane = lane.name and ${QUEUED} and not task.blocked
          and task.key is distinct from lane.head ${blocked} offset 0) as other),
      halted as (update holdfast.task set blocked = true from behind where task.key = behind.key ${COUNTED})
    update holdfast.log set claimable = claimable
        + (select count(*) from freed where counts) - (select count(*) from halted where counts)
      where id = $1`,
  );
}

const UNBLOCK_KEYS = unblock(
  `select task.key from holdfast.task where task.log = $1 and task.lane = given.name and ${QUEUED}
      and not exists (select 1 from holdfast.task as busy
        where busy.log = $1 and busy.lane = given.name and busy.held and busy.lane is not null)
    order by task.priority desc, task.key limit 1`,
  '',
);

/**
 * Turns stand in line until they have ended, and their children are in their lane without queueing: they may be held while
 * their own turn goes on.
 */
const UNBLOCK_TURNS = unblock(
  `select first.key from (select key, id, status, run_at from holdfast.task
      where task.log = $1 and task.lane = given.name and is_turn and finished_at is null order by key limit 1) as first
    where first.status = 'queued' and first.run_at is null
      and not exists (select 1 from holdfast.task as busy where busy.log = $1 and busy.lane = given.name and busy.held
        and busy.lane is not null and busy.root_id <> first.id)`,
  'and task.is_turn',
);

/** What brings the marks of lanes up to date in which a task has come, or gone into its line or out of it. */
export function unblockLanes(logId: number, lanes: Iterable<string>): Asked[] {
  const all = [...lanes];
  const turns = all.filter(isTurnLane).map(toText);
  const keys = all.filter((lane) => !isTurnLane(lane)).map(toText);
  const asked: Asked[] = [];
  if (keys.length > 0) asked.push([UNBLOCK_KEYS, logId, keys]);
  if (turns.length > 0) asked.push([UNBLOCK_TURNS, logId, turns]);
  return asked;
}
