import type { Database } from 'better-sqlite3';
import type { DueItem, HeldTask, Queries } from '../store.ts';
import { SUSPECT_RUNNING } from './offered.ts';
import type { Synchronous } from './synchronous.ts';

/** Prepares what the loops ask for: what is due, what can be pruned, what a dead process left. All by partial indexes. */
export function createDue(
  db: Database,
  now: () => number,
): Pick<Synchronous<Queries>, 'due' | 'nextDueAt' | 'prunable' | 'orphans' | 'newestSuspects'> {
  const questions = db.prepare<[number, number], { at: number; owner: string; questionId: string }>(
    `select expires_at as at, log.owner, question.id as questionId from question join log on log.id = question.log
      where status = 'pending' and expires_at is not null and expires_at <= ? order by expires_at limit ?`,
  );
  const timers = db.prepare<[number, number], { at: number; owner: string; taskId: string; key: string }>(
    `select due_at as at, log.owner, task.id as taskId, journal.key from journal
      join task on task.key = journal.task join log on log.id = task.log
      where due_at is not null and due_at <= ? order by due_at limit ?`,
  );
  const delayed = db.prepare<[number, number], { at: number; owner: string; taskId: string }>(
    `select run_at as at, log.owner, task.id as taskId from task join log on log.id = task.log
      where run_at is not null and run_at <= ? order by run_at limit ?`,
  );
  const deadlines = db.prepare<
    [number, number],
    { at: number; owner: string; taskId: string; fence: number; timeoutMs: number }
  >(
    `select deadline_at as at, log.owner, task.id as taskId, fence, timeout_ms as timeoutMs
      from task join log on log.id = task.log
      where deadline_at is not null and deadline_at <= ? order by deadline_at limit ?`,
  );
  const next = db
    .prepare<[], number | null>(
      `select min(at) from (
        select min(expires_at) as at from question where status = 'pending' and expires_at is not null
        union all select min(due_at) from journal where due_at is not null
        union all select min(run_at) from task where run_at is not null
        union all select min(deadline_at) from task where deadline_at is not null)`,
    )
    .pluck();
  const prunable = db.prepare<[number, number], { owner: string; taskId: string }>(
    `select log.owner, task.id as taskId from task join log on log.id = task.log
      where parent_id is null and finished_at is not null and task.pruned_seq < last_seq and finished_at < ?
      order by finished_at limit ?`,
  );
  const held = `select log.owner, task.id as taskId, fence, status, running_since as runningSince
    from task join log on log.id = task.log`;
  const orphans = db.prepare<[number], HeldTask>(`${held} where held = 1 limit ?`);
  const newestSuspects = db.prepare<[number], HeldTask>(
    `${held} where ${SUSPECT_RUNNING} order by running_since desc limit ?`,
  );
  return {
    due(limit) {
      const at = now();
      const items = [
        ...questions.all(at, limit).map(({ at, ...item }) => ({ at, item: { kind: 'question', ...item } as const })),
        ...timers.all(at, limit).map(({ at, ...item }) => ({ at, item: { kind: 'timer', ...item } as const })),
        ...delayed.all(at, limit).map(({ at, ...item }) => ({ at, item: { kind: 'ready', ...item } as const })),
        ...deadlines.all(at, limit).map(({ at, ...item }) => ({ at, item: { kind: 'deadline', ...item } as const })),
      ];
      return items
        .sort((a, b) => a.at - b.at)
        .slice(0, limit)
        .map(({ item }): DueItem => item);
    },
    nextDueAt: () => next.get() ?? null,
    prunable: (retentionMs, limit) => prunable.all(now() - retentionMs, limit),
    orphans: (limit) => orphans.all(limit),
    newestSuspects: (limit) => newestSuspects.all(limit),
  };
}
