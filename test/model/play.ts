import type { VerbCall } from '../../src/model/batch.ts';
import type { Outcome } from '../../src/model/verb.ts';
import { Caller } from './caller.ts';
import type { Step } from './moves.ts';
import type { Table } from './table.ts';

/** What was decided in one go, and between which changes from outside. */
export interface Part {
  now: number;
  epoch: string;
  calls: VerbCall[];
}

/**
 * Makes calls of moves, one after the other, and hands each to `decide`, which decides it over `table`.
 *
 * @returns the same calls, cut into batches
 */
export function play(steps: readonly Step[], table: Table, decide: (call: VerbCall) => Outcome<unknown>): Part[] {
  const caller = new Caller(table);
  const parts: Part[] = [];
  let headBefore = 0;
  let cut = true;

  for (const each of steps) {
    if (each.kind === 'clock') table.now += each.ms;
    if (each.kind === 'restart') table.epoch = `epoch${String(parts.length + 2).padStart(3, '0')}`;
    if (each.kind !== 'move') {
      cut = true;
      continue;
    }
    const call = caller.callOf(each.move);
    if (call === null) continue;
    if (cut || each.cut || claimsItsOwn(call, headBefore)) {
      parts.push({ now: table.now, epoch: table.epoch, calls: [] });
      headBefore = table.log.head;
      cut = false;
    }
    parts.at(-1)?.calls.push(call);
    caller.made(call, decide(call));
  }
  return parts;

  /** A claim cannot know the lane of a task that its own batch creates, nor what its own batch has made the first in it. */
  function claimsItsOwn(call: VerbCall, head: number): boolean {
    if (call.verb !== 'claimTask') return false;
    const task = table.task(call.args.taskId);
    if (task.lane === null || task.parentId !== null) return false;
    const turns = [...table.tasks.values()].filter(({ lane, isTurn }) => isTurn && lane === task.lane);
    return (
      task.firstSeq > head ||
      (task.isTurn && turns.some(({ finishedAt, lastSeq }) => finishedAt !== null && lastSeq > head))
    );
  }
}
