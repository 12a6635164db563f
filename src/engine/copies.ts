import { failpoint } from '../failpoint.ts';
import type { ResultOf, VerbCall } from '../model/batch.ts';
import { isTerminalEvent } from '../model/event.ts';
import type { Lease } from '../model/fence.ts';
import type { KeyResolution } from '../model/journal.ts';
import type { Outcome, Refusal } from '../model/verb.ts';
import type { Committed } from '../store/store.ts';
import type { Command, DropReason } from '../worker/protocol.ts';
import { type Copy, isResting, type NumberedReport } from './copy.ts';
import { startCommand } from './start-command.ts';
import { createTelling } from './telling.ts';
import { createWarmCopies } from './warm.ts';

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
  all(): Copy[];
  /** Keeps a waiting copy for the claim that is made now; false when there is none. */
  claim(taskId: string): boolean;
  /** The claim was not made: the copy waits on. */
  unclaim(taskId: string): void;
  /** Those of an owner that were not lost. */
  of(owner: string): Copy[];
  /** Whose copies are here. */
  owners(): Iterable<string>;
  has(owner: string): boolean;
  /** The newest place that a copy was told of, or will be with its claim. */
  ord(taskId: string): number;
  /** How many were claimed again and were not told so yet. */
  adopting(): number;
  /** Takes in what was read of the store, as of its present claim: all that was resolved up to the place `ord`. */
  learn(taskId: string, ord: number, resolutions: readonly KeyResolution[]): void;
  /** The attempt of a task has ended otherwise than by its copy's own report, or another process runs it. */
  cut(taskId: string, reason: DropReason): void;
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
  /** A claim was made for a copy that is gone, or that may not be started any more. */
  onParked(owner: string, claim: Lease): void;
  /** A running copy was dropped whose task has ended without it. */
  onCut(copy: Copy): void;
  /** Copies of this owner must learn what others have resolved. Default: there are no others. */
  onBehind?: ((owner: string) => void) | null;
  /** Whether what was claimed under the name of this node may still be run. Default: always. */
  mayStart?: (node: string | null) => boolean;
}

export function createCopies(options: CopiesOptions): Copies {
  const { send, reportOf, onStranded, onParked, onCut, onBehind = null, mayStart = () => true } = options;
  const copies = new Map<string, Copy>();
  const byOwner = new Map<string, Set<Copy>>();
  const telling = createTelling(send, onBehind);
  const warm = createWarmCopies({ warmMs: options.warmMs, park });
  const busy = new Map<string, number>();
  let resting = 0;

  function move(copy: Copy, status: Copy['status'] | 'gone'): void {
    const rested = isResting(copy.status);
    if (rested) warm.take(copy.taskId);
    if (status === 'gone') remove(copy);
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

  function add(copy: Copy): void {
    copies.set(copy.taskId, copy);
    byOwner.set(copy.owner, (byOwner.get(copy.owner) ?? new Set()).add(copy));
    count(copy.owner, 1);
  }

  function remove(copy: Copy): void {
    copies.delete(copy.taskId);
    const own = byOwner.get(copy.owner);
    own?.delete(copy);
    if (own?.size === 0) byOwner.delete(copy.owner);
  }

  function drop(copy: Copy, reason: DropReason): void {
    const { taskId, fence } = copy;
    telling.end(taskId);
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

  function resolve({ taskId, ...told }: KeyResolution, before: number): void {
    if (!copies.has(taskId)) return;
    failpoint?.('resolution-not-told');
    telling.put(taskId, { kind: 'resolved', told, before });
  }

  /** Answers a report of a copy. @param before the newest place of its task before it */
  function acknowledge(report: NumberedReport, outcome: Outcome<unknown>, before: number): void {
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
      telling.finish(taskId, n);
      move(copy, 'gone');
    } else if (report.kind === 'wait') {
      const answer = (outcome as Outcome<ResultOf<'waitTask'>> & { ok: true }).result;
      failpoint?.('wait-not-told');
      telling.put(taskId, { kind: 'waited', n, answer, before });
      if (answer === 'waiting') move(copy, copy.status === 'lost' ? 'gone' : 'waiting');
    } else {
      telling.put(taskId, { kind: 'acknowledged', n, before });
    }
  }

  /** Starts a copy for a claim, or gives the claim to the one that has waited in memory. */
  function claimed(owner: string, { task, rows }: ResultOf<'claimTask'>): void {
    const { id: taskId, fence } = task;
    const isWelcome = mayStart(task.node);
    const known = copies.get(taskId);
    if (known !== undefined && isResting(known.status) && known.fence === fence - 1) {
      move(known, 'running');
      known.fence = fence;
      known.deadlineAt = task.deadlineAt;
      failpoint?.('claimed-not-adopted');
      telling.put(taskId, { kind: 'adopted', fence, before: task.ord });
      return;
    }
    if (known !== undefined) drop(known, 'lost');
    if (rows === null || !isWelcome) {
      onParked(owner, { taskId, fence });
      return;
    }
    const copy: Copy = {
      ...{ taskId, owner, parentId: task.parentId, firstFence: fence, fence, deadlineAt: task.deadlineAt },
      ...{ status: 'running', received: 0, worker: null },
    };
    add(copy);
    telling.begin(copy, task.ord);
    failpoint?.('claimed-not-started');
    send(startCommand(task, rows));
  }

  function unclaim(taskId: string): void {
    const copy = copies.get(taskId);
    if (copy?.status !== 'claiming') return;
    move(copy, 'waiting');
    // Somebody else may have been faster.
    onBehind?.(copy.owner);
  }

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

    all: () => [...copies.values()],

    claim(taskId) {
      const copy = copies.get(taskId);
      if (copy?.status !== 'waiting') return false;
      move(copy, 'claiming');
      return true;
    },

    unclaim,
    of: (owner) => [...(byOwner.get(owner) ?? [])].filter(({ status }) => status !== 'lost'),
    owners: () => byOwner.keys(),
    has: (owner) => byOwner.has(owner),
    ord: telling.ord,
    adopting: telling.adopting,

    learn(taskId, ord, resolutions) {
      telling.learn(
        taskId,
        ord,
        resolutions.map(({ taskId: _, ...told }) => told),
      );
      telling.flush();
    },

    cut,

    lose(copy) {
      telling.end(copy.taskId);
      move(copy, isResting(copy.status) ? 'gone' : 'lost');
    },

    committed(owner, calls, { outcomes, events, eventCounts, resolutions, ords }) {
      let firstEvent = 0;
      let nextResolution = 0;
      for (const [index, call] of calls.entries()) {
        const outcome = outcomes[index];
        if (outcome === undefined) throw new Error('A commit has an outcome for each of its calls.');
        const before = ords[index] ?? 0;
        for (let next = resolutions[nextResolution]; next?.call === index; next = resolutions[++nextResolution]) {
          const { call: _, ...resolution } = next;
          // A spawn that was reopened has an old place; everything else has the next one.
          const isOwn = 'taskId' in call.args && call.args.taskId === resolution.taskId;
          resolve(resolution, Math.max(resolution.ord - 1, isOwn ? before : 0));
        }
        const report = reportOf(call);
        if (report !== null) acknowledge(report, outcome, before);
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
      telling.flush();
    },
  };
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
