import type { VerbCall } from '../model/batch.ts';
import { isTerminalEvent } from '../model/event.ts';
import type { TaskRecord } from '../model/task.ts';
import type { Outcome } from '../model/verb.ts';
import type { Committed } from '../store/store.ts';
import type { Command, CopyReport, Told } from '../worker/protocol.ts';

/** A report of a copy with its place: the `n`-th of this copy. */
export type NumberedReport = { taskId: string; fence: number; n: number } & CopyReport;

/** The code of a task in a worker's memory, as far as the main thread knows it. */
export interface Copy {
  owner: string;
  fence: number;
  status: 'running' | 'waiting';
  /** What was resolved while the copy waits; it learns of it with its next claim. */
  untold: Told[];
  /** The questions that it has asked. */
  questionIds: string[];
  /** Which worker it was last heard of from; null before. */
  worker: number | null;
}

/**
 * The copies in the workers, and what they must be told of each commit, in the order of the commits: that is what makes
 * the order of deliveries the order of the log.
 */
export interface Copies {
  get(taskId: string): Copy | undefined;
  /** How many are not at rest. */
  running(): number;
  /** The task of the waiting copy that the call would wake; null when it would wake none. */
  wokenBy(call: VerbCall): string | null;
  /** Takes in a commit. */
  committed(calls: readonly VerbCall[], committed: Committed): void;
}

export interface CopiesOptions {
  send(command: Command): void;
  /** The report that a call was made of; null where no worker asked for it. */
  reportOf(call: VerbCall): NumberedReport | null;
  /** A report was refused though its task is still held: it can go no further. */
  onStranded(taskId: string): void;
}

export function createCopies({ send, reportOf, onStranded }: CopiesOptions): Copies {
  const copies = new Map<string, Copy>();
  const askers = new Map<string, string>();
  let waiting = 0;

  function forget(taskId: string, copy: Copy): void {
    copies.delete(taskId);
    for (const questionId of copy.questionIds) askers.delete(questionId);
    if (copy.status === 'waiting') waiting -= 1;
  }

  /** Answers a report of a copy. */
  function acknowledge(report: NumberedReport, outcome: Outcome<unknown>, at: number): void {
    const { taskId, fence, n } = report;
    const copy = copies.get(taskId);
    if (copy === undefined || copy.fence !== fence) return;
    if (!outcome.ok) {
      send({ kind: 'drop', taskId, fence, reason: 'lost' });
      if (outcome.code === 'lease_lost') forget(taskId, copy);
      else onStranded(taskId);
      return;
    }
    if (report.kind === 'wait') {
      const answer = outcome.result === 'waiting' ? 'waiting' : 'already';
      if (answer === 'waiting') {
        copy.status = 'waiting';
        waiting += 1;
      }
      send({ kind: 'waited', taskId, fence, n, at, answer });
      return;
    }
    if (report.kind === 'ask') {
      copy.questionIds.push(report.questionId);
      askers.set(report.questionId, taskId);
    }
    if (report.kind === 'end') forget(taskId, copy);
    send({ kind: 'ack', taskId, fence, n, at });
  }

  /** Starts a copy for a claim, or gives the claim to the one that has waited in memory. */
  function claimed(
    { id: taskId, owner, fence, agent, attempt, version, input, createdAt }: TaskRecord,
    at: number,
  ): void {
    const warm = copies.get(taskId);
    if (warm !== undefined && warm.fence === fence - 1 && warm.status === 'waiting') {
      const { untold } = warm;
      waiting -= 1;
      copies.set(taskId, { ...warm, fence, status: 'running', untold: [] });
      send({ kind: 'adopt', taskId, fence, at, resolutions: untold });
      return;
    }
    copies.set(taskId, { owner, fence, status: 'running', untold: [], questionIds: [], worker: null });
    const seed = { seed: taskId, originAt: createdAt };
    send({ kind: 'start', taskId, fence, agent, attempt, version: version ?? '', input, ...seed });
  }

  function resolve(taskId: string, told: Told, at: number): void {
    const copy = copies.get(taskId);
    if (copy?.status === 'waiting') copy.untold.push(told);
    else if (copy !== undefined) send({ kind: 'resolve', taskId, fence: copy.fence, at, resolutions: [told] });
  }

  /** A task that has ended otherwise than by its copy's own report. */
  function cut(taskId: string, type: string): void {
    const copy = copies.get(taskId);
    if (copy === undefined) return;
    forget(taskId, copy);
    send({ kind: 'drop', taskId, fence: copy.fence, reason: type === 'task.cancelled' ? 'cancelled' : 'timeout' });
  }

  return {
    get: (taskId) => copies.get(taskId),
    running: () => copies.size - waiting,

    wokenBy(call) {
      const taskId = wokenTask(call, askers);
      return taskId !== undefined && copies.get(taskId)?.status === 'waiting' ? taskId : null;
    },

    committed(calls, { outcomes, events, resolutions, now }) {
      for (const [index, call] of calls.entries()) {
        const outcome = outcomes[index];
        if (outcome === undefined) throw new Error('A commit has an outcome for each of its calls.');
        for (const { taskId, key, outcome: told } of resolutions.filter((each) => each.call === index)) {
          resolve(taskId, { key, outcome: told }, now);
        }
        const report = reportOf(call);
        if (report !== null) acknowledge(report, outcome, now);
        const task = claimedTask(call, outcome);
        if (task !== null) claimed(task, now);
      }
      for (const { taskId, type } of events) if (isTerminalEvent(type)) cut(taskId, type);
    },
  };
}

function wokenTask(call: VerbCall, askers: ReadonlyMap<string, string>): string | undefined {
  switch (call.verb) {
    case 'answerQuestion':
    case 'declineQuestion':
    case 'expireQuestion':
      return askers.get(call.args.questionId);
    case 'fireTimer':
      return call.args.taskId;
    default:
      return undefined;
  }
}

function claimedTask(call: VerbCall, outcome: Outcome<unknown>): TaskRecord | null {
  if (call.verb !== 'claimTask' || !outcome.ok) return null;
  return (outcome.result as { task: TaskRecord }).task;
}
