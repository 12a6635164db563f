import { failpoint } from '../failpoint.ts';
import type { ResultOf, VerbCall } from '../model/batch.ts';
import { isTerminalEvent } from '../model/event.ts';
import type { Lease } from '../model/fence.ts';
import type { KeyResolution } from '../model/journal.ts';
import type { Outcome, Refusal } from '../model/verb.ts';
import type { Committed } from '../store/store.ts';
import type { Command, CopyReport, DropReason, StartRow, Told } from '../worker/protocol.ts';
import { createTelling } from './telling.ts';
import { createWarmCopies } from './warm.ts';

/** A report of a copy with its place: the `n`-th of this copy. */
export type NumberedReport = { taskId: string; fence: number; n: number } & CopyReport;

/** The code of a task in a worker's memory, as far as the main thread knows it. */
export interface Copy {
  readonly taskId: string;
  readonly owner: string;
  readonly parentId: string | null;
  /** The claim with which it was started. */
  readonly firstFence: number;
  fence: number;
  /**
   * `claiming`: it waits, and a claim for it is on its way. `lost`: it can do nothing any more, and what becomes of its task
   * is on its way.
   */
  status: 'running' | 'waiting' | 'claiming' | 'lost';
  /** What was resolved while the copy waits; it learns of it with its next claim. */
  untold: Told[];
  /** The number of the last report that has come of it. */
  received: number;
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
  /** How many of each owner's are not at rest; without those who have none. */
  readonly busy: ReadonlyMap<string, number>;
  /** How many wait and may be woken. */
  warm(): number;
  /** Those of `running`. */
  unfinished(): Copy[];
  /** Keeps a waiting copy for the claim that is made now; false when there is none. */
  claim(taskId: string): boolean;
  /** The claim was not made: the copy waits on. */
  unclaim(taskId: string): void;
  /** Hears no more of a copy: it is gone. One that runs is kept until its task has been taken from it. */
  lose(copy: Copy): void;
  /** Takes in a commit. */
  committed(owner: string, calls: readonly VerbCall[], committed: Committed): void;
}

export interface CopiesOptions {
  /** How long one that waits is kept in memory. */
  warmMs: number;
  send(command: Command): void;
  /** The report that a call was made of; null where no worker asked for it. */
  reportOf(call: VerbCall): NumberedReport | null;
  /** A report was refused though its task is still held: the copy can go no further. */
  onStranded(copy: Copy, why: Refusal): void;
  /** A claim for a waiting copy was made, but it is gone. */
  onParked(owner: string, claim: Lease): void;
  /** A running copy was dropped whose task has ended without it. */
  onCut(copy: Copy): void;
}

export function createCopies(options: CopiesOptions): Copies {
  const { send, reportOf, onStranded, onParked, onCut } = options;
  const copies = new Map<string, Copy>();
  const telling = createTelling(send);
  const warm = createWarmCopies({ warmMs: options.warmMs, park });
  const busy = new Map<string, number>();
  let resting = 0;

  function move(copy: Copy, status: Copy['status'] | 'gone'): void {
    const rested = isResting(copy.status);
    if (rested) warm.take(copy.taskId);
    if (status === 'gone') copies.delete(copy.taskId);
    else copy.status = status;
    resting += Number(status !== 'gone' && isResting(status)) - Number(rested);
    count(copy.owner, Number(status !== 'gone' && !isResting(status)) - Number(!rested));
    if (status === 'waiting') warm.keep(copy.taskId);
  }

  function count(owner: string, more: number): void {
    const running = (busy.get(owner) ?? 0) + more;
    if (running === 0) busy.delete(owner);
    else busy.set(owner, running);
  }

  function drop(copy: Copy, reason: DropReason): void {
    const { taskId, fence } = copy;
    telling.tell(taskId);
    move(copy, 'gone');
    send({ kind: 'drop', taskId, fence, reason });
  }

  function park(taskId: string): void {
    const copy = copies.get(taskId);
    if (copy === undefined) return;
    failpoint?.('copy-not-parked');
    drop(copy, 'parked');
    failpoint?.('copy-parked');
  }

  function resolve({ taskId, ...told }: KeyResolution): void {
    const copy = copies.get(taskId);
    if (copy === undefined || copy.status === 'lost') return;
    failpoint?.('resolution-not-told');
    if (copy.status === 'running') telling.resolved(copy, told);
    else copy.untold.push(told);
  }

  /** Answers a report of a copy. */
  function acknowledge(report: NumberedReport, outcome: Outcome<unknown>): void {
    const { taskId, fence, n } = report;
    const copy = copies.get(taskId);
    if (copy === undefined || copy.fence !== fence) return;
    if (!outcome.ok) {
      if (outcome.code === 'lease_lost') drop(copy, 'lost');
      else onStranded(copy, outcome);
      return;
    }
    failpoint?.('report-not-acknowledged');
    if (report.kind === 'spawn') failpoint?.('spawn-not-acknowledged');
    if (report.kind === 'end') {
      failpoint?.('end-not-acknowledged');
      if (copy.parentId !== null) failpoint?.('child-end-not-told');
      telling.acknowledged(copy, n);
      move(copy, 'gone');
    } else if (report.kind === 'wait') {
      const answer = (outcome as Outcome<ResultOf<'waitTask'>> & { ok: true }).result;
      telling.tell(taskId);
      failpoint?.('wait-not-told');
      send({ kind: 'waited', taskId, fence, n, answer });
      if (answer === 'waiting') move(copy, copy.status === 'lost' ? 'gone' : 'waiting');
    } else {
      telling.acknowledged(copy, n);
    }
  }

  /** Starts a copy for a claim, or gives the claim to the one that has waited in memory. */
  function claimed(owner: string, { task, rows }: ResultOf<'claimTask'>): void {
    const { id: taskId, fence } = task;
    const known = copies.get(taskId);
    if (known !== undefined && isResting(known.status) && known.fence === fence - 1) {
      const resolutions = known.untold;
      move(known, 'running');
      known.fence = fence;
      known.untold = [];
      failpoint?.('claimed-not-adopted');
      send({ kind: 'adopt', taskId, fence, resolutions });
      return;
    }
    if (rows === null) {
      onParked(owner, { taskId, fence });
      return;
    }
    if (known !== undefined) drop(known, 'lost');
    const { parentId, conversationId, agent, attempt, version, input, seed, originAt, emits, marks } = task;
    copies.set(taskId, {
      taskId,
      owner,
      parentId,
      firstFence: fence,
      fence,
      status: 'running',
      untold: [],
      received: 0,
      worker: null,
    });
    count(owner, 1);
    failpoint?.('claimed-not-started');
    send({
      kind: 'start',
      ...{ taskId, fence, conversationId, agent, attempt, version: version ?? '', input, seed, originAt, emits, marks },
      rows: rows.map(toStartRow),
    });
  }

  function unclaim(taskId: string): void {
    const copy = copies.get(taskId);
    if (copy?.status === 'claiming') move(copy, 'waiting');
  }

  /** The attempt of a task has ended otherwise than by its copy's own report. */
  function cut(taskId: string, reason: DropReason): void {
    const copy = copies.get(taskId);
    if (copy === undefined) return;
    const wasRunning = copy.status === 'running';
    if (copy.status === 'lost') move(copy, 'gone');
    else drop(copy, reason);
    if (wasRunning) onCut(copy);
  }

  /** What was to become of a lost copy's task has been decided. */
  function forgetLost({ taskId, fence }: Lease): void {
    const copy = copies.get(taskId);
    if (copy?.status === 'lost' && copy.fence === fence) move(copy, 'gone');
  }

  return {
    get: (taskId) => copies.get(taskId),
    running: () => copies.size - resting,
    busy,
    warm: () => warm.size,
    unfinished: () => [...copies.values()].filter(({ status }) => !isResting(status)),

    claim(taskId) {
      const copy = copies.get(taskId);
      if (copy?.status !== 'waiting') return false;
      move(copy, 'claiming');
      return true;
    },

    unclaim,

    lose(copy) {
      move(copy, isResting(copy.status) ? 'gone' : 'lost');
    },

    committed(owner, calls, { outcomes, events, eventCounts, resolutions }) {
      let firstEvent = 0;
      let nextResolution = 0;
      for (const [index, call] of calls.entries()) {
        const outcome = outcomes[index];
        if (outcome === undefined) throw new Error('A commit has an outcome for each of its calls.');
        for (let next = resolutions[nextResolution]; next?.call === index; next = resolutions[++nextResolution]) {
          const { call: _, ...resolution } = next;
          resolve(resolution);
        }
        const report = reportOf(call);
        if (report !== null) acknowledge(report, outcome);
        if (call.verb === 'claimTask') {
          if (outcome.ok) claimed(owner, outcome.result as ResultOf<'claimTask'>);
          else unclaim(call.args.taskId);
        }
        const endEvent = firstEvent + (eventCounts[index] ?? 0);
        for (const { taskId, type } of events.slice(firstEvent, endEvent)) {
          if (taskId !== null && endsAttempt(type)) cut(taskId, reasonOf(call, type));
        }
        firstEvent = endEvent;
        if (takesAway(call)) forgetLost(call.args);
      }
      telling.tellAll();
    },
  };
}

function isResting(status: Copy['status']): boolean {
  return status === 'waiting' || status === 'claiming';
}

function takesAway(call: VerbCall): call is VerbCall<'requeueTask' | 'failTask'> {
  return call.verb === 'requeueTask' || (call.verb === 'failTask' && call.args.when !== 'deadline');
}

function endsAttempt(type: string): boolean {
  return isTerminalEvent(type) || type === 'task.retrying' || type === 'task.recovered';
}

function reasonOf(call: VerbCall, type: string): DropReason {
  if (type === 'task.cancelled') return 'cancelled';
  return call.verb === 'failTask' && call.args.when === 'deadline' ? 'timeout' : 'lost';
}

/** Only what a copy needs goes over to its thread. */
function toStartRow(row: StartRow): StartRow {
  const { key, kind, status, value, askedAt, ord, emitsDone, at, tries, once } = row;
  return { key, kind, status, value, askedAt, ord, emitsDone, at, tries, once };
}
