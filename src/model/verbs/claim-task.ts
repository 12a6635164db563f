import { type NewEvent, newEvent } from '../event.ts';
import type { JournalRow } from '../journal.ts';
import { messageDiscarded, stepRef } from '../message.ts';
import { moveTask } from '../task.ts';
import { accept, refuse, type TaskResult, type Verb } from '../verb.ts';

export interface ClaimTaskArgs {
  taskId: string;
  /** The `version` of the agent that will run it; stored at the first claim. */
  version: string;
  /** Whether a copy that still is in memory adopts the claim; else a new one begins with the journal. */
  warm: boolean;
  /** The name of the process whose worker will run it. */
  node: string;
}

export interface ClaimTaskResult extends TaskResult {
  /** The whole journal; null for a copy that goes on from memory. */
  rows: JournalRow[] | null;
}

/**
 * Gives a queued task to a worker under a new fence: the only way to `running`. One that begins an attempt says so; one
 * after a wait or a drain has no event. What the steps had begun to say that a new copy runs again is discarded.
 */
export const claimTask: Verb<ClaimTaskArgs, ClaimTaskResult> = {
  needs: ({ taskId, warm }) => ({ tasks: [taskId], lanes: [taskId], journals: warm ? [] : [taskId] }),
  decide(view, { taskId, version, warm, node }, now) {
    const task = view.task(taskId);
    if (task === null || task.status !== 'queued') return refuse('not_claimable', `${taskId} is not queued.`);
    if (task.runAt !== null) return refuse('not_claimable', `${taskId} is not ready yet.`);
    if (task.held) return refuse('not_claimable', `The worker of the last attempt of ${taskId} has not let go.`);
    if (view.isLaneBusy(task)) return refuse('not_claimable', `The lane of ${taskId} is busy.`);
    const claimed = {
      ...moveTask(task, 'running', now),
      fence: task.fence + 1,
      held: true,
      node,
      attempt: task.begins ? task.attempt + 1 : task.attempt,
      begins: false,
      version: task.version ?? version,
    };
    const started = task.begins ? [newEvent(taskId, 'task.started', { attempt: claimed.attempt })] : [];
    if (warm) return accept({ task: claimed, rows: null }, { changes: { tasks: [claimed] }, events: started });
    const journal = view.rows(taskId);
    const rows = journal.map(silenced);
    return accept(
      { task: claimed, rows },
      {
        changes: { tasks: [claimed], rows: rows.filter((row, at) => row !== journal[at]) },
        events: [...started, ...journal.flatMap(discarded)],
      },
    );
  },
};

function silenced(row: JournalRow): JournalRow {
  return row.message === null ? row : { ...row, message: null };
}

function discarded(row: JournalRow): NewEvent[] {
  if (row.message === null) return [];
  const data = { messageId: row.message.id, reason: 'step_interrupted' } as const;
  return [messageDiscarded(row.taskId, stepRef(row), data)];
}
