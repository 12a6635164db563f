/**
 * Fills and frees the disk of a server again and again while many clients use it: `npm run fill -- --cycles 20 --seed 1`.
 * Ends with 1 when something acknowledged was lost, a cycle did not reach `storage_full`, or the server did not go on by
 * itself. Needs the right to mount a tmpfs; without it, it is skipped, unless CI=true.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { mayMount } from '../support/small-disk.ts';
import { copyCode } from './failpoint-copy.ts';
import { type FillCycle, fillCycles } from './fill-cycles.ts';
import { playRound } from './round.ts';
import { seedOf } from './seed.ts';
import { AGENTS } from './server-lives.ts';
import { Totals } from './totals.ts';

const TASKS_A_CYCLE = 12;
const PAUSE_MS = 600;
const CYCLE_MS = 60_000;

const { values } = parseArgs({
  options: { cycles: { type: 'string', default: '20' }, seed: { type: 'string', default: '1' } },
});
const [cycles = 0, seed = 0] = [values.cycles, values.seed].map(Number);
if (![cycles, seed].every(Number.isSafeInteger) || cycles < 1) {
  console.error('--cycles and --seed take whole numbers.');
  process.exit(2);
}
if (!mayMount()) {
  console.error('Skipped: this user may not mount a tmpfs; root may.');
  process.exit(process.env.CI === 'true' ? 1 : 0);
}

// So that the servers go as well.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-fill-'));
const code = copyCode([AGENTS]);
const seen: FillCycle[] = [];
const { story, violations } = await playRound({
  ...{ seed: seedOf(seed, 'fill'), nemesis: fillCycles(cycles, (cycle) => seen.push(cycle)), code, dir },
  ...{ spawns: true, retries: true },
  load: { tasks: cycles * TASKS_A_CYCLE, pauseMs: PAUSE_MS, faultsMs: cycles * CYCLE_MS },
}).finally(code.remove);

const faults = violations.map(({ rule, text }) => `${rule}: ${text}`);
if (seen.length < cycles) faults.push(`Only ${seen.length} of ${cycles} cycles were whole.`);
const totals = new Totals();
totals.add(story);
const refused = story.requests.flatMap(({ tries }) => tries).filter((each) => each.code === 'storage_full');
console.log(totals.text);
console.log(
  `${seen.length} cycles, ${refused.length} requests refused with storage_full; ` +
    `refused ${spread(seen.map((each) => each.refusedAfterMs))} after the disk was full, ` +
    `an event ${spread(seen.map((each) => each.recoveredAfterMs))} after it was not`,
);
for (const fault of faults) console.log(`  ${fault}`);
console.log(`faults: ${faults.length}`);
if (faults.length === 0) rmSync(dir, { recursive: true });
else console.log(`what shows it: ${dir}; again: npm run fill -- --cycles ${cycles} --seed ${seed}`);
process.exitCode = faults.length === 0 ? 0 : 1;

function spread(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  return `${sorted.at(0)} to ${sorted.at(-1)} ms`;
}
