import type { Database } from 'better-sqlite3';
import type { StoreReads } from '../store.ts';

interface Candidate {
  owner: string;
  taskId: string;
  agent: string;
}

/**
 * Prepares the search for work. Owners take turns, and the next search goes on behind the owner with whom the last one
 * ended, so that none of them waits for another's queue to be empty.
 */
export function createClaimable(db: Database): StoreReads['claimable'] {
  const nextLog = db
    .prepare<[number], number>(
      `select log from task indexed by task_queue where log > ? and status = 'queued' and blocked = 0 order by log limit 1`,
    )
    .pluck();
  const queue = db.prepare<[number, number], Candidate>(
    `select log.owner, task.id as taskId, task.agent from task indexed by task_queue join log on log.id = task.log
      where task.log = ? and status = 'queued' and blocked = 0 order by priority desc, key limit ?`,
  );
  let lastLog = 0;

  /** The logs with work, at most `limit`, beginning behind the last one served. */
  function logsInTurn(limit: number): number[] {
    const logs: number[] = [];
    let log = nextLog.get(lastLog) ?? nextLog.get(0);
    while (log !== undefined && log !== logs[0] && logs.length < limit) {
      logs.push(log);
      log = nextLog.get(log) ?? nextLog.get(0);
    }
    return logs;
  }

  return (limit) => {
    const logs = logsInTurn(limit);
    lastLog = logs.at(-1) ?? lastLog;
    const mostOfOne = limit - logs.length + 1;
    const queues = logs.map((log) => queue.all(log, mostOfOne));
    return inTurns(queues).slice(0, limit);
  };
}

/** The first of each, then the second of each, and so on. */
function inTurns<T>(queues: readonly T[][]): T[] {
  const rounds = Math.max(0, ...queues.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, round) => queues.flatMap((queue) => queue.slice(round, round + 1))).flat();
}
