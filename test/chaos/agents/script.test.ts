import { describe, expect, test } from 'vitest';
import { type Move, type ScriptInput, scriptOf } from './script.ts';

const INPUT: Omit<ScriptInput, 'seed'> = { spawns: true, retries: true, depth: 0 };
const SEEDS = Array.from({ length: 200 }, (_, seed) => seed);

function scripts(more: Partial<ScriptInput> = {}) {
  return SEEDS.map((seed) => scriptOf({ seed, ...INPUT, ...more }));
}

/** Each move with the branch it is in. */
function movesOf(moves: readonly Move[], branch = 'main'): { branch: string; move: Move }[] {
  return moves.flatMap((move) => {
    const inner = move.kind === 'branches' ? move.branches.flatMap(({ name, moves: own }) => movesOf(own, name)) : [];
    return [{ branch, move }, ...inner];
  });
}

function kindsOf(all: ReturnType<typeof scripts>): Set<string> {
  return new Set(all.flatMap(({ moves }) => movesOf(moves).map(({ move }) => move.kind)));
}

describe('A script', () => {
  test('is the same for the same input', () => {
    expect(scripts()).toEqual(scripts());
  });

  test('gives each branch names of its own', () => {
    for (const { moves } of scripts()) {
      for (const { branch, move } of movesOf(moves)) {
        if ('name' in move) expect(move.name.startsWith(`${branch}.`)).toBe(true);
      }
    }
  });

  test('draws every kind, but none that was not asked for', () => {
    const always = ['step', 'once', 'doomed', 'say', 'emit', 'progress', 'ask', 'race', 'sleep', 'branches', 'pause'];

    expect(kindsOf(scripts())).toEqual(new Set([...always, 'child', 'reluctant']));
    expect(kindsOf(scripts({ spawns: false, retries: false }))).toEqual(new Set(always));
    expect(kindsOf(scripts({ depth: 2 }))).toEqual(new Set(always));
  });

  test('pauses only where there is one branch', () => {
    for (const { moves, pauses } of scripts()) {
      const kinds = new Set(movesOf(moves).map(({ move }) => move.kind));
      expect(kinds.has('pause') && (kinds.has('branches') || !pauses)).toBe(false);
    }
  });

  test('awaits its children where an attempt may fail', () => {
    for (const { moves } of scripts()) {
      if (moves.at(-1)?.kind !== 'reluctant') continue;
      for (const { move } of movesOf(moves)) if (move.kind === 'child') expect(move.awaited).toBe(true);
    }
  });
});
