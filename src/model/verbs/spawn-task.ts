import { continuationOf } from '../continuing.ts';
import { resultOf, terminalEvent } from '../ending.ts';
import { type Lease, refuseWork, workingTask } from '../fence.ts';
import { childKey } from '../journal.ts';
import { canonicalJson, type Json } from '../json.ts';
import { laneOfChild } from '../lane.ts';
import { childLimit } from '../limits.ts';
import { newTask, taskCreated } from '../new-task.ts';
import { resolveRow } from '../resolving.ts';
import { mustBeFree, newRow, rowOf } from '../row.ts';
import { DEFAULT_MAX_ATTEMPTS, DEFAULT_TASK_TIMEOUT_MS, moveTask, type TaskRecord } from '../task.ts';
import { taskError } from '../task-error.ts';
import { accept, refuse, type Verb } from '../verb.ts';
import type { View } from '../view.ts';

export interface SpawnTaskArgs extends Lease {
  key: string;
  askedAt: number;
  childId: string;
  agent: string;
  input: Json;
}

/**
 * Starts a child of a running task: the call is resolved at once, and beside it a row waits for what comes of the child.
 * A spawn that comes again, since what came of its child was taken back or its parent is tried again, is given another
 * child, which goes on where that one can. One that is too deep, or one too many, fails at once, as children do: in its
 * result.
 */
export const spawnTask: Verb<SpawnTaskArgs, null> = {
  needs: ({ taskId, key, childId }) => ({
    tasks: [taskId, childId],
    formerChildren: [{ taskId, key }],
    rows: [
      { taskId, key },
      { taskId, key: childKey(key) },
    ],
  }),
  decide(view, args, now) {
    const parent = workingTask(view, args);
    if (parent === null) return refuseWork(view, args);
    if (view.task(args.childId) !== null) return refuse('internal', 'The id of a new task is taken.');
    const { taskId, key, askedAt } = args;
    const resultAt = { taskId, key: childKey(key) };
    mustBeFree(view, resultAt);
    const call = rowOf(view, args, 'spawn') ?? newRow(args, { kind: 'spawn', askedAt });
    const spawned = resolveRow(parent, call, { status: 'done', value: JSON.stringify(args.childId) }, now);
    const result = newRow(resultAt, { kind: 'child', askedAt: call.askedAt });
    const { child, rows } = childOf(view, parent, args, now);
    const limit = childLimit(child, view.task(child.rootId));
    if (limit === null) {
      return accept(null, {
        changes: { tasks: [spawned.task, child], rows: [spawned.row, result, ...rows] },
        events: [taskCreated(child)],
        resolutions: [spawned.resolution],
      });
    }
    const error = taskError('limit_exceeded', limit);
    const ending = { status: 'failed', error, cut: null } as const;
    const ended = resolveRow(spawned.task, result, { status: 'failed', value: JSON.stringify(resultOf(ending)) }, now);
    return accept(null, {
      changes: { tasks: [ended.task, { ...moveTask(child, 'failed', now), error }], rows: [spawned.row, ended.row] },
      events: [taskCreated(child), terminalEvent(child.id, ending)],
      resolutions: [spawned.resolution, ended.resolution],
    });
  },
};

function childOf(view: View, parent: TaskRecord, { key, childId, agent, input }: SpawnTaskArgs, now: number) {
  const { owner, priority, conversationId } = parent;
  const given = { id: childId, owner, agent, input, metadata: {}, priority, concurrencyKey: null };
  const limits = { timeoutMs: DEFAULT_TASK_TIMEOUT_MS, maxAttempts: DEFAULT_MAX_ATTEMPTS };
  const place = { parentId: parent.id, rootId: parent.rootId, spawnKey: key, depth: parent.depth + 1 };
  const former = view.formerChild({ taskId: parent.id, key });
  const isSame = former?.agent === agent && canonicalJson(former.input) === canonicalJson(input);
  // Its seed hangs on its place alone: whatever becomes of this child, the next one calls others by the same keys.
  const fresh = { rows: [], more: { seed: `${parent.seed} ${key}` } };
  const { rows, more } = former !== null && isSame ? continuationOf(view, former) : fresh;
  const child = newTask({ ...given, ...limits }, now, { ...place, ...more, conversationId, lane: laneOfChild(parent) });
  return { child, rows: rows.map((row) => ({ ...row, taskId: childId })) };
}
