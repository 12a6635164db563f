/**
 * Plays rounds of faults against a real server, and judges each: `npm run chaos -- --rounds 200 --seed 1`. Ends with 1
 * when a rule was broken, and then says how to play that round again.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { groupBy } from '../../src/engine/group-by.ts';
import { copyCode } from './failpoint-copy.ts';
import { NEMESES } from './nemeses.ts';
import type { MakeNemesis } from './nemesis.ts';
import { playRound, type Round } from './round.ts';
import type { Violation } from './rules/rule.ts';
import { seedOf } from './seed.ts';
import { AGENTS } from './server-lives.ts';
import { Totals } from './totals.ts';

const SHOWN_OF_RULE = 3;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    /** The first round: with `--rounds 1`, the only one. */
    round: { type: 'string', default: '1' },
    /** How many rounds at a time. */
    jobs: { type: 'string', default: '1' },
    nemesis: { type: 'string', default: 'kill-storm' },
    /** Without children, without `maxAttempts`: to see whether what is wrong comes of them. */
    'no-spawn': { type: 'boolean', default: false },
    'no-retry': { type: 'boolean', default: false },
    /** Keeps the directories of all rounds, not only of those that broke a rule. */
    keep: { type: 'boolean', default: false },
  },
});
const [seed = 0, first = 0, rounds = 0, jobs = 0] = [values.seed, values.round, values.rounds, values.jobs].map(Number);
const found = NEMESES[values.nemesis];
if (found === undefined || ![seed, first, rounds, jobs].every(Number.isSafeInteger)) {
  console.error(`Numbers, and as --nemesis one of: ${Object.keys(NEMESES).join(', ')}.`);
  process.exit(2);
}

const make: MakeNemesis = found;
// So that the servers go as well.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const base = mkdtempSync(path.join(tmpdir(), 'holdfast-chaos-'));
const code = copyCode([AGENTS]);
const totals = new Totals();
const broken: { round: number; violations: number }[] = [];
let next = first;
await Promise.all(
  Array.from({ length: jobs }, async () => {
    while (next < first + rounds) await playOne(next++);
  }),
);
code.remove();
if (broken.length === 0 && !values.keep) rmSync(base, { recursive: true });
console.log(`${rounds} rounds of ${values.nemesis}: ${totals.text}`);
console.log(`violations: ${broken.reduce((sum, { violations }) => sum + violations, 0)} in ${broken.length} rounds`);
process.exitCode = broken.length > 0 ? 1 : 0;

/** Plays a round, says what came of it, and keeps what shows that a rule was broken. */
async function playOne(round: number): Promise<void> {
  const dir = path.join(base, `round-${round}`);
  mkdirSync(dir);
  const begun = performance.now();
  const result = await play(round, dir).catch((error: unknown) => {
    const thrown = error instanceof Error ? error.stack : error;
    return { story: null, violations: [{ rule: 'a round comes to its end', text: `${thrown}`, evidence: null }] };
  });
  const { story, violations } = result;
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  const counts =
    story === null ? '' : `${story.lives.length} lives, ${story.tasks.length} tasks, ${story.log.length} events, `;
  console.log(`round ${round}: ${violations.length} violations, ${counts}${seconds} s`);
  if (story !== null) totals.add(story);
  if (violations.length > 0) {
    broken.push({ round, violations: violations.length });
    writeFileSync(path.join(dir, 'violations.json'), JSON.stringify(violations, null, 2));
    writeFileSync(path.join(dir, 'log.jsonl'), (story?.log ?? []).map(({ text }) => `${text}\n`).join(''));
    report(round, dir, violations);
  } else if (!values.keep) rmSync(dir, { recursive: true });
}

function play(round: number, dir: string): Promise<Round> {
  const [spawns, retries] = [!values['no-spawn'], !values['no-retry']];
  return playRound({ seed: seedOf(seed, round), nemesis: make, code, dir, spawns, retries });
}

function report(round: number, dir: string, violations: readonly Violation[]): void {
  for (const [rule, own] of groupBy(violations, (violation) => violation.rule)) {
    console.log(`  ${own.length} times broken: ${rule}`);
    for (const { text } of own.slice(0, SHOWN_OF_RULE)) console.log(`    ${text}`);
  }
  console.log(`  what shows it: ${path.join(dir, 'violations.json')}`);
  const without = (['no-spawn', 'no-retry'] as const).filter((name) => values[name]).map((name) => ` --${name}`);
  const options = `--seed ${seed} --round ${round} --rounds 1 --nemesis ${values.nemesis}${without.join('')}`;
  console.log(`  again: npm run chaos -- ${options}`);
}
