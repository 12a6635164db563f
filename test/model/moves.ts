import fc from 'fast-check';
import type { Json } from '../../src/model/json.ts';

/** Who acts, and how. It is made into a call when its turn comes, by what is there then. */
export type Move =
  | { move: 'create'; lane: string | null; timeoutMs: number; keyed: boolean }
  | { move: 'claim' | 'cancel' | 'deadline' | 'wake' | 'finish' | 'fail'; pick: number; fence: number }
  | { move: 'append' | 'step'; pick: number; fence: number; size: number }
  | { move: 'ask' | 'sleep'; pick: number; fence: number; ms: number | null }
  | { move: 'wait' | 'withdraw' | 'fire'; pick: number; fence: number; which: number }
  | { move: 'answer'; pick: number; value: Json; bare: boolean; keyed: boolean }
  | { move: 'decline'; pick: number; keyed: boolean }
  | { move: 'expire'; pick: number }
  | { move: 'prune'; pick: number }
  | { move: 'repeat'; pick: number; changed: boolean };

/** One thing that happens. All but a move come between two batches. */
export type Step =
  | { kind: 'move'; move: Move; cut: boolean }
  | { kind: 'clock'; ms: number }
  | { kind: 'restart' }
  | { kind: 'spawn'; pick: number };

const pick = fc.nat(11);
/** Mostly the newest, else an older one or one that was never given. */
const fence = fc.constantFrom(0, 0, 0, 0, 0, -1, -2, 1);
const keyed = fc.boolean();
/** Whether a new batch begins. */
const cut = fc.constantFrom(false, false, true);
const ms = fc.constantFrom<(number | null)[]>(null, 0, 1, 50, 400);
const value = fc.constantFrom<Json>('june', 'june', 'july', 'may', null, '', 5);

const moves: fc.WeightedArbitrary<Move>[] = [
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ move: fc.constant('create' as const), lane: fc.constantFrom(null, 'a', 'a', 'b') },
      ...{ timeoutMs: fc.constantFrom(0, 100, 1000, 100_000), keyed },
    }),
  },
  { weight: 9, arbitrary: fc.record({ move: fc.constant('claim' as const), pick, fence }) },
  {
    weight: 4,
    arbitrary: fc.record({
      move: fc.constantFrom('cancel', 'deadline', 'wake', 'finish', 'fail' as const),
      pick,
      fence,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ move: fc.constantFrom('append', 'step' as const), pick, fence, size: fc.nat(2) }),
  },
  {
    weight: 9,
    arbitrary: fc.record({ move: fc.constantFrom('ask', 'ask', 'sleep' as const), pick, fence, ms }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      move: fc.constantFrom('wait', 'wait', 'withdraw', 'fire' as const),
      pick,
      fence,
      which: fc.nat(7),
    }),
  },
  { weight: 8, arbitrary: fc.record({ move: fc.constant('answer' as const), pick, value, bare: fc.boolean(), keyed }) },
  { weight: 2, arbitrary: fc.record({ move: fc.constant('decline' as const), pick, keyed }) },
  { weight: 2, arbitrary: fc.record({ move: fc.constant('expire' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ move: fc.constant('prune' as const), pick }) },
  {
    weight: 2,
    arbitrary: fc.record({ move: fc.constant('repeat' as const), pick, changed: fc.constantFrom(false, false, true) }),
  },
];

export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({ kind: fc.constant('move' as const), move: fc.oneof(...moves), cut }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('clock' as const),
      ms: fc.constantFrom(0, 1, 30, 70, 500, 25 * 3_600_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('spawn' as const), pick }) },
);
