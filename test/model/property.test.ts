import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { VerbCall } from '../../src/model/batch.ts';
import type { Outcome } from '../../src/model/verb.ts';
import { type Step, step } from './moves.ts';
import { type Part, play } from './play.ts';
import { type Records, Table } from './table.ts';
import { Witness } from './witness.ts';

interface Played {
  table: Table;
  parts: Part[];
  outcomes: Outcome<unknown>[];
  ords: (number | null)[];
  resolutions: unknown[];
  dueAt: number | null;
  broken: string[];
}

/** Decides the calls one by one, each over all that is stored. */
function playSingly(steps: readonly Step[], tally: Map<string, number>): Played {
  const table = new Table();
  const witness = new Witness(table);
  const played: Omit<Played, 'parts'> = { table, outcomes: [], ords: [], resolutions: [], dueAt: null, broken: [] };
  const parts = play(steps, table, (call) => {
    witness.passTime();
    const before = table.records();
    const ran = table.run<VerbCall>(call, 'everything');
    const broken = witness.see(call, ran, before);
    played.broken.push(...broken.map((rule) => `${rule}, broken by ${JSON.stringify(call)}`));
    played.outcomes.push(ran.outcome);
    played.ords.push(...ran.ords);
    played.resolutions.push(...ran.resolutions.map(({ call: _, ...resolution }) => resolution));
    played.dueAt = earlier(played.dueAt, ran.dueAt);
    for (const what of [
      cameTo(call, ran.outcome),
      ...ran.events.map(({ type }) => type),
      ...journaled(table, before),
    ]) {
      tally.set(what, (tally.get(what) ?? 0) + 1);
    }
    return ran.outcome;
  });
  return { ...played, parts };
}

/** Decides the same calls in batches, each over what they say they need. */
function playInBatches(parts: readonly Part[]): Omit<Played, 'parts' | 'broken'> {
  const table = new Table();
  const played: Omit<Played, 'parts' | 'broken'> = { table, outcomes: [], ords: [], resolutions: [], dueAt: null };
  for (const { now, epoch, calls } of parts) {
    table.now = now;
    table.epoch = epoch;
    const batch = table.commit(calls, 'needed');
    played.outcomes.push(...batch.outcomes);
    played.ords.push(...batch.ords);
    played.resolutions.push(...batch.resolutions.map(({ call: _, ...resolution }) => resolution));
    played.dueAt = earlier(played.dueAt, batch.dueAt);
  }
  return played;
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

function cameTo(call: VerbCall, outcome: Outcome<unknown>): string {
  return `${call.verb} ${outcome.ok ? (outcome.replayed ? 'replayed' : 'done') : outcome.code}`;
}

/** What became of the rows of journals. */
function journaled({ rows }: Table, before: Records): string[] {
  const turned = [...before.rows].map(([id, row]) => `${row.kind} ${row.status} to ${rows.get(id)?.status ?? 'gone'}`);
  return [...new Set(turned)];
}

const EXPECTED = [
  ...['createTask', 'claimTask', 'cancelTask', 'finishTask', 'failTask', 'appendEvents', 'startStep', 'settleStep'],
  ...['askQuestion', 'answerQuestion', 'declineQuestion', 'expireQuestion', 'withdrawQuestion', 'pruneTask'],
  ...['startTimer', 'fireTimer', 'waitTask', 'wakeTask', 'takeInbox', 'addToInbox', 'spawnTask', 'requeueTask'],
  ...['releaseTask', 'readyTask', 'retryTask', 'createConversation', 'updateConversation', 'deleteConversation'],
  ...['postMessage', 'readHistory'],
].map((verb) => `${verb} done`);
const ALSO_EXPECTED = [
  ...['createTask replayed', 'createTask idempotency_mismatch', 'claimTask not_claimable', 'cancelTask replayed'],
  ...['cancelTask task_finished', 'answerQuestion replayed', 'answerQuestion question_resolved'],
  ...['answerQuestion invalid_answer', 'answerQuestion not_found', 'declineQuestion replayed', 'waitTask internal'],
  ...['declineQuestion question_resolved', 'expireQuestion not_due', 'pruneTask not_due', 'fireTimer not_due'],
  ...['failTask not_due', 'failTask lease_lost', 'finishTask lease_lost', 'appendEvents lease_lost'],
  ...['retryTask replayed', 'retryTask task_finished', 'addToInbox task_finished', 'readyTask not_due'],
  ...['requeueTask lease_lost', 'releaseTask lease_lost', 'spawnTask lease_lost', 'settleStep lease_lost'],
  ...['postMessage replayed', 'postMessage conversation_busy', 'postMessage not_found', 'readHistory lease_lost'],
  ...['wakeTask lease_lost', 'waitTask lease_lost', 'askQuestion lease_lost', 'withdrawQuestion lease_lost'],
];

const JOURNALED = [
  ...[
    'step pending to done',
    'step pending to failed',
    'step done to gone',
    'step failed to gone',
    'step pending to gone',
  ],
  ...['ask pending to answered', 'ask pending to declined', 'ask pending to expired', 'ask pending to withdrawn'],
  ...['ask pending to gone', 'sleep pending to done', 'sleep pending to gone', 'inbox done to gone'],
  ...['spawn done to pending', 'spawn pending to done', 'spawn done to gone', 'child pending to gone'],
  ...['child pending to completed', 'child pending to failed', 'child pending to cancelled'],
  ...['task.retrying', 'task.recovered', 'message.completed', 'message.discarded', 'question.cancelled'],
];

test('[Q6] keeps every rule, whoever races with whom, and decides the same in batches as one by one', () => {
  const tally = new Map<string, number>();

  fc.assert(
    fc.property(fc.array(step, { minLength: 60, maxLength: 120, size: 'max' }), (steps) => {
      const singly = playSingly(steps, tally);
      const batched = playInBatches(singly.parts);

      expect(singly.broken).toEqual([]);
      expect(batched.table.told).toEqual(singly.table.told);
      expect(batched.outcomes).toEqual(singly.outcomes);
      expect(batched.ords).toEqual(singly.ords);
      expect(batched.resolutions).toEqual(singly.resolutions);
      expect(batched.dueAt).toBe(singly.dueAt);
      expect(batched.table.records()).toEqual(singly.table.records());
    }),
    { seed: 2026, numRuns: 600 },
  );
  const rare = [...EXPECTED, ...ALSO_EXPECTED, ...JOURNALED].filter((what) => (tally.get(what) ?? 0) < 5);
  expect(rare, 'what the sequences hardly ever reach').toEqual([]);
}, 180_000);
