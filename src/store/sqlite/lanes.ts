import type { Database } from 'better-sqlite3';

/**
 * Of the queued tasks that share a `concurrencyKey`, only the first in line is offered to claims, and only while none of
 * them runs: the others are marked `blocked`, so that ten thousand of them cost a claim nothing.
 *
 * @returns brings the marks of one lane up to date; to be called when a task of it has come or changed its status
 */
export function createUnblock(db: Database): (logId: number, concurrencyKey: string) => void {
  const block = db.prepare<[number, string]>(
    `update task indexed by task_lane_head set blocked = 1
      where log = ? and concurrency_key = ? and status = 'queued' and blocked = 0 and concurrency_key is not null`,
  );
  const isBusy = db
    .prepare<[number, string], 1>(
      `select 1 from task where log = ? and concurrency_key = ? and status = 'running' limit 1`,
    )
    .pluck();
  const unblockHead = db.prepare<[number, string]>(
    `update task set blocked = 0 where key = (
      select key from task indexed by task_lane_queue
      where log = ? and concurrency_key = ? and status = 'queued' and concurrency_key is not null
      order by priority desc, key limit 1)`,
  );
  return (logId, concurrencyKey) => {
    block.run(logId, concurrencyKey);
    if (isBusy.get(logId, concurrencyKey) === undefined) unblockHead.run(logId, concurrencyKey);
  };
}
