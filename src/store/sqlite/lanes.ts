import type { Database } from 'better-sqlite3';
import { isTurnLane } from '../../model/lane.ts';
import { SUSPECT_CRASHES } from '../offered.ts';

/** Brings the marks of one lane up to date. @returns by how many the claimable tasks have become more */
export type Unblock = (logId: number, lane: string) => number;

const QUEUED = `log = ? and lane = ? and status = 'queued' and run_at is null and lane is not null`;
const NOBODY = 0;

/**
 * Of the queued tasks of a lane, only the first in line is offered to claims, and only while none of the others is held:
 * the others are marked `blocked`, so that ten thousand of them cost a claim nothing. One that waits for its `runAt` is not
 * in line yet.
 *
 * Turns stand in line until they have ended, and their children are in their lane without queueing: they may be held while
 * their own turn goes on.
 *
 * @returns to be called when a task of the lane has come, or gone into its line or out of it
 */
export function createUnblock(db: Database): Unblock {
  const headOfKey = prepareHeadOfKey(db);
  const headOfTurns = prepareHeadOfTurns(db);
  const counted = `returning held = 0 and crashes < ${SUSPECT_CRASHES}`;
  const prepareBlock = (where: string) =>
    db
      .prepare<[number, string, number], number>(
        `update task indexed by task_lane_head set blocked = 1 where ${QUEUED} and blocked = 0 and key <> ? ${where} ${counted}`,
      )
      .pluck();
  const blockAll = prepareBlock('');
  const blockTurns = prepareBlock('and is_turn = 1');
  const unblock = db
    .prepare<[number], number>(`update task set blocked = 0 where key = ? and blocked = 1 ${counted}`)
    .pluck();
  return (logId, lane) => {
    const isOfTurns = isTurnLane(lane);
    const head = isOfTurns ? headOfTurns(logId, lane) : headOfKey(logId, lane);
    const block = isOfTurns ? blockTurns : blockAll;
    return sum(unblock.all(head)) - sum(block.all(logId, lane, head));
  };
}

function prepareHeadOfKey(db: Database): (logId: number, lane: string) => number {
  const isBusy = db
    .prepare<[number, string], 1>('select 1 from task where log = ? and lane = ? and held = 1 limit 1')
    .pluck();
  const first = db
    .prepare<[number, string], number>(
      `select key from task indexed by task_lane_queue where ${QUEUED} order by priority desc, key limit 1`,
    )
    .pluck();
  return (logId, lane) => (isBusy.get(logId, lane) !== undefined ? NOBODY : (first.get(logId, lane) ?? NOBODY));
}

function prepareHeadOfTurns(db: Database): (logId: number, lane: string) => number {
  const first = db.prepare<[number, string], { key: number; id: string; isInLine: number }>(
    `select key, id, status = 'queued' and run_at is null as isInLine from task indexed by task_lane_turn
      where log = ? and lane = ? and is_turn = 1 and finished_at is null order by key limit 1`,
  );
  const isBusy = db
    .prepare<[number, string, string], 1>(
      'select 1 from task where log = ? and lane = ? and held = 1 and root_id <> ? limit 1',
    )
    .pluck();
  return (logId, lane) => {
    const turn = first.get(logId, lane);
    if (turn === undefined || turn.isInLine === 0) return NOBODY;
    return isBusy.get(logId, lane, turn.id) !== undefined ? NOBODY : turn.key;
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
