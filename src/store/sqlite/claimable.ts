import type { Database } from 'better-sqlite3';
import type { Queries, Suspect } from '../store.ts';
import { CLAIMABLE, SUSPECT } from './offered.ts';
import type { Synchronous } from './synchronous.ts';

interface Candidate {
  owner: string;
  taskId: string;
  agent: string;
}

const NOBODY: ReadonlySet<string> = new Set();

/**
 * Prepares the search for work. Owners take turns: whose last claim is the longest ago comes first, so that none of them
 * waits for another's queue to be empty. Whoever has this database has it alone, and all agents: it is not asked which.
 */
export function createClaimable(db: Database): Pick<Synchronous<Queries>, 'claimable' | 'suspects'> {
  const logsInTurn = db.prepare<[], { id: number; owner: string }>(
    'select id, owner from log indexed by log_claimable where claimable > 0 order by turn, id',
  );
  const queue = db.prepare<[number, number], Candidate>(
    `select log.owner, task.id as taskId, task.agent from task indexed by task_queue join log on log.id = task.log
      where task.log = ? and ${CLAIMABLE} order by priority desc, key limit ?`,
  );
  const suspects = db.prepare<[number], Suspect>(
    `select log.owner, task.id as taskId, task.agent, crashes, alone_crashes as aloneCrashes
      from task indexed by task_suspect join log on log.id = task.log
      where ${SUSPECT} order by priority desc, key limit ?`,
  );
  return {
    claimable(limit, full = NOBODY) {
      const logs = first(limit, logsInTurn.iterate(), full);
      const mostOfOne = limit - logs.length + 1;
      const queues = logs.map((log) => queue.all(log, mostOfOne));
      return inTurns(queues).slice(0, limit);
    },
    suspects: (limit) => suspects.all(limit),
  };
}

/** The logs of the first so many owners who are not passed over. */
function first(count: number, logs: Iterable<{ id: number; owner: string }>, full: ReadonlySet<string>): number[] {
  const found: number[] = [];
  for (const { id, owner } of logs) {
    if (found.length >= count) break;
    if (!full.has(owner)) found.push(id);
  }
  return found;
}

/** The first of each, then the second of each, and so on. */
function inTurns<T>(queues: readonly T[][]): T[] {
  const rounds = Math.max(0, ...queues.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, round) => queues.flatMap((queue) => queue.slice(round, round + 1))).flat();
}
