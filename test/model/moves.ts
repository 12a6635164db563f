import fc from 'fast-check';
import type { Json } from '../../src/model/json.ts';
import type { WhenBusy } from '../../src/model/verbs/post-message.ts';

/** What a worker, or who watches over it, may do with a task that it holds, or held. */
const WORKER_MOVES = [
  ...(['append', 'append', 'begin', 'begin', 'settle', 'settle', 'settle', 'say', 'uncertain', 'ask', 'ask'] as const),
  ...([
    'sleep',
    'sleep',
    'spawn',
    'spawn',
    'takeInbox',
    'history',
    'withdraw',
    'wait',
    'wait',
    'wait',
    'wait',
    'finish',
  ] as const),
  ...(['fail', 'fail', 'fail', 'deadline', 'requeue', 'release', 'wake'] as const),
] as const;
const LOOP_MOVES = ['claim', 'claim', 'claim', 'claim', 'expire', 'fire', 'fire', 'ready', 'prune'] as const;

export type WorkerMove = { move: (typeof WORKER_MOVES)[number]; pick: number; fence: number; which: number };
export type LoopMove = { move: (typeof LOOP_MOVES)[number]; pick: number; which: number };
export type ClientMove =
  | { move: 'create'; lane: string | null; timeoutMs: number; maxAttempts: number; inMs: number | null; keyed: boolean }
  | { move: 'cancel' | 'send'; pick: number }
  | { move: 'retry'; pick: number; keyed: boolean }
  | { move: 'decline'; pick: number; keyed: boolean }
  | { move: 'answer'; pick: number; value: Json; bare: boolean; keyed: boolean }
  | { move: 'repeat'; pick: number; changed: boolean }
  | { move: 'write'; pick: number; whenBusy: WhenBusy; keyed: boolean }
  | { move: 'close'; pick: number; which: number };

/** Who acts, and how. It is made into a call when its turn comes, by what is there then. */
export type Move = WorkerMove | LoopMove | ClientMove;

/** One thing that happens. All but a move come between two batches. */
export type Step = { kind: 'move'; move: Move; cut: boolean } | { kind: 'clock'; ms: number } | { kind: 'restart' };

const pick = fc.nat(11);
/** How something is done that can be done in several ways. */
const which = fc.nat(23);
/** Mostly the newest, else an older one or one that was never given. */
const fence = fc.constantFrom(...Array<number>(15).fill(0), -1, -2, 1);
const keyed = fc.boolean();
/** Whether a new batch begins. */
const cut = fc.constantFrom(false, false, true);
const value = fc.constantFrom<Json>('june', 'june', 'july', 'may', null, '', 5);

const client: fc.WeightedArbitrary<Move>[] = [
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ move: fc.constant('create' as const), lane: fc.constantFrom(null, 'a', 'a', 'b'), keyed },
      ...{ timeoutMs: fc.constantFrom(0, 100, 1000, 100_000, 100_000), maxAttempts: fc.constantFrom(1, 3, 6) },
      inMs: fc.constantFrom(null, null, null, 0, 30),
    }),
  },
  { weight: 1, arbitrary: fc.record({ move: fc.constantFrom('cancel' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ move: fc.constant('send' as const), pick }) },
  { weight: 3, arbitrary: fc.record({ move: fc.constant('retry' as const), pick, keyed }) },
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ move: fc.constant('write' as const), pick, keyed },
      whenBusy: fc.constantFrom<WhenBusy>('interrupt', 'enqueue', 'enqueue', 'reject', 'steer', 'steer', 'steer'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ move: fc.constant('close' as const), pick, which }) },
  { weight: 6, arbitrary: fc.record({ move: fc.constant('answer' as const), pick, value, bare: fc.boolean(), keyed }) },
  { weight: 2, arbitrary: fc.record({ move: fc.constant('decline' as const), pick, keyed }) },
  {
    weight: 2,
    arbitrary: fc.record({ move: fc.constant('repeat' as const), pick, changed: fc.constantFrom(false, false, true) }),
  },
];

const move: fc.Arbitrary<Move> = fc.oneof(
  ...client,
  { weight: 40, arbitrary: fc.record({ move: fc.constantFrom(...WORKER_MOVES), pick, fence, which }) },
  { weight: 16, arbitrary: fc.record({ move: fc.constantFrom(...LOOP_MOVES), pick, which }) },
);

export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 20, arbitrary: fc.record({ kind: fc.constant('move' as const), move, cut }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('clock' as const),
      ms: fc.constantFrom(0, 1, 30, 70, 500, 25 * 3_600_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);
