import { type Dice, diceOf } from '../../support/dice.ts';
import { seedOf } from '../seed.ts';

/** What a scripted agent does next. Times are in ms. */
export type Move =
  /** `failures`: so many attempts fail first. `tells`: events from inside. `pieces`: of a message said from inside, 0 for none. */
  | { kind: 'step'; name: string; ms: number; failures: number; tells: number; pieces: number }
  /** A step that may run only once, whatever happens. */
  | { kind: 'once'; name: string; ms: number }
  /** A step that fails for good; the agent goes on. */
  | { kind: 'doomed'; name: string; ms: number }
  /** A step that fails so many times for good, each time with its whole attempt of the task. */
  | { kind: 'reluctant'; name: string; ms: number; failures: number }
  | { kind: 'say'; name: string; ms: number; pieces: number }
  | { kind: 'emit'; awaited: boolean }
  | { kind: 'progress'; fraction: number }
  | { kind: 'ask'; name: string; timeoutMs: number | null }
  /** A question against a timer: the timer may win, and then the question is withdrawn. */
  | { kind: 'race'; name: string; ms: number }
  | { kind: 'sleep'; name: string; ms: number }
  | { kind: 'branches'; branches: Branch[] }
  | { kind: 'child'; name: string; seed: number; awaited: boolean }
  /** Waits for something that is not the handle's. */
  | { kind: 'pause'; ms: number };

/** Moves beside others, with names that begin with the branch's. */
export interface Branch {
  name: string;
  moves: Move[];
}

/** A kind that is drawn. */
type Kind = Exclude<Move['kind'], 'reluctant'>;

export interface Script {
  moves: Move[];
  /** How the task ends unless somebody cancels it. */
  ending: 'completed' | 'failed';
  /** Whether it pauses. Then it has no branches, and `now()` may differ from attempt to attempt. */
  pauses: boolean;
}

export interface ScriptInput {
  seed: number;
  /** Whether it may spawn children. */
  spawns: boolean;
  /** Whether attempts of its may fail and be followed by others. Its children have one each. */
  retries: boolean;
  /** How many generations are above it. */
  depth: number;
}

const MAX_DEPTH = 2;
/** `maxAttempts` of tasks that retry. */
export const MAX_ATTEMPTS = 3;
/** Names come again within a branch, and never in another one. */
const NAMES_A_KIND = 3;

/** The script that belongs to an input: agents play it, and the checker knows by it how a task must end. */
export function scriptOf({ seed, spawns, retries, depth }: ScriptInput): Script {
  const dice = diceOf(seedOf('script', seed));
  const pauses = dice.below(5) === 0;
  const kinds = KINDS.flatMap(([kind, weight]) => Array<Kind>(weight).fill(kind)).filter((kind) => {
    if (kind === 'pause') return pauses;
    if (kind === 'branches') return !pauses;
    return kind !== 'child' || (spawns && depth < MAX_DEPTH);
  });
  const moves = movesOf(dice, kinds, 'main', 3 + dice.below(5));
  const ending = dice.below(12) === 0 ? 'failed' : 'completed';
  const isReluctant = dice.below(5) === 0 && retries && depth === 0;
  if (!isReluctant) return { moves, ending, pauses };
  const last: Move = { kind: 'reluctant', name: 'main.reluctant', ms: 20, failures: 1 + dice.below(MAX_ATTEMPTS - 1) };
  return { moves: [...moves.map(awaitChildren), last], ending: 'completed', pauses };
}

/** What fails beside a child that nobody awaits would take that back as well. */
function awaitChildren(move: Move): Move {
  if (move.kind === 'child') return { ...move, awaited: true };
  if (move.kind !== 'branches') return move;
  return {
    ...move,
    branches: move.branches.map(({ name, moves }) => ({ name, moves: moves.map(awaitChildren) })),
  };
}

/** What is drawn, and how often. */
const KINDS: [Kind, number][] = [
  ['step', 6],
  ['once', 1],
  ['doomed', 1],
  ['say', 2],
  ['emit', 4],
  ['progress', 1],
  ['ask', 2],
  ['race', 1],
  ['sleep', 2],
  ['branches', 2],
  ['child', 1],
  ['pause', 3],
];

function movesOf(dice: Dice, kinds: readonly Kind[], branch: string, count: number): Move[] {
  return Array.from({ length: count }, (_, place) => moveOf(dice, kinds, branch, place));
}

function moveOf(dice: Dice, kinds: readonly Kind[], branch: string, place: number): Move {
  const kind = dice.pick(kinds);
  const name = `${branch}.${kind}-${dice.below(NAMES_A_KIND)}`;
  const ms = dice.below(120);
  switch (kind) {
    case 'step':
      return {
        kind,
        name,
        ms,
        failures: Math.max(0, dice.below(6) - 3),
        tells: Math.max(0, dice.below(6) - 3),
        pieces: Math.max(0, dice.below(8) - 4),
      };
    case 'say':
      return { kind, name, ms, pieces: dice.below(6) };
    case 'emit':
      return { kind, awaited: dice.below(3) > 0 };
    case 'progress':
      return { kind, fraction: dice.below(101) / 100 };
    case 'ask':
      return { kind, name, timeoutMs: dice.below(3) === 0 ? 100 + dice.below(1500) : null };
    case 'race':
      return { kind, name, ms: 20 + dice.below(600) };
    case 'sleep':
      return { kind, name, ms: dice.below(400) };
    case 'branches': {
      // One level: branches of branches would say the same of longer runs.
      const inner = kinds.filter((other) => other !== 'branches');
      const names = ['a', 'b', 'c'].slice(0, 2 + dice.below(2)).map((letter) => `${branch}-${place}${letter}`);
      return {
        kind,
        branches: names.map((name) => ({ name, moves: movesOf(dice, inner, name, 1 + dice.below(3)) })),
      };
    }
    case 'child':
      return { kind, name, seed: seedOf('child', dice.below(2 ** 31)), awaited: dice.below(4) > 0 };
    default:
      return { kind, name, ms };
  }
}
