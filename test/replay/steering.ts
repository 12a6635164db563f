import type { VerbName } from '../../src/model/batch.ts';
import type { Move } from './moves.ts';
import type { World } from './world.ts';

/** Whether one of these verbs has been committed for something of this name, as often as that. */
export function hasCommitted(world: World, verb: VerbName, key?: string, times = 1): boolean {
  const done = world.history.commits
    .flatMap(({ calls }) => calls)
    .filter((call) => {
      return call.verb === verb && (key === undefined || keyOf(call.args) === key);
    });
  return done.length >= times;
}

export function keyOf(args: object): string | null {
  const { step, key } = args as { step?: { name: string }; key?: string };
  return step?.name ?? key ?? null;
}

/** Whether a move brings news to a worker that would go on with them. */
export function isNews(move: Move): boolean {
  return move.kind === 'pass' && ['ack', 'resolve', 'waited', 'adopt'].includes(move.command.kind);
}

/** Whether a move brings a report of this kind from a worker. */
export function isHeard(move: Move, kind: string): boolean {
  return move.kind === 'hear' && move.batch.some((report) => report.kind === kind);
}

/** All moves but those that are held back. */
export function without(moves: Move[], isHeldBack: (move: Move) => boolean): Move[] {
  return moves.filter((move) => !isHeldBack(move));
}
