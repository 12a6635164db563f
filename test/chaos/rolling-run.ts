/**
 * Restarts a server again and again by SIGTERM while many clients use it: `npm run rolling -- --restarts 20 --seed 1`. Ends
 * with 1 when a task failed that must not, something was lost or doubled, or an end was not 0 within ten seconds.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { copyCode } from './failpoint-copy.ts';
import { HASTY, rolling } from './rolling.ts';
import { rollingFaults, stopTimes } from './rolling-faults.ts';
import { playRound } from './round.ts';
import { seedOf } from './seed.ts';
import { AGENTS } from './server-lives.ts';
import { Totals } from './totals.ts';

const TASKS_A_RESTART = 10;
const PAUSE_MS = 4000;
const RESTART_MS = 30_000;

const { values } = parseArgs({
  options: {
    restarts: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    /** Leaves what runs no time to come to rest. */
    hasty: { type: 'boolean', default: false },
  },
});
const [restarts = 0, seed = 0] = [values.restarts, values.seed].map(Number);
if (![restarts, seed].every(Number.isSafeInteger) || restarts < 1) {
  console.error('--restarts and --seed take whole numbers.');
  process.exit(2);
}

// So that the servers go as well.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-rolling-'));
const code = copyCode([AGENTS], values.hasty ? HASTY : []);
const { story, violations } = await playRound({
  ...{ seed: seedOf(seed, 'rolling'), nemesis: rolling(restarts), code, dir, spawns: true, retries: true },
  load: { tasks: restarts * TASKS_A_RESTART, pauseMs: PAUSE_MS, faultsMs: restarts * RESTART_MS },
}).finally(code.remove);

const faults = [...violations.map(({ rule, text }) => `${rule}: ${text}`), ...rollingFaults(story, restarts)];
const totals = new Totals();
totals.add(story);
const stops = stopTimes(story).toSorted((a, b) => a - b);
const connections = story.readings.reduce((sum, reading) => sum + reading.connections.length, 0);
const tries = story.requests.flatMap((request) => request.tries);
console.log(totals.text);
console.log(
  `${stops.length} ends by SIGTERM, in ${stops.at(0)} to ${stops.at(-1)} ms, p50 ${stops[stops.length >> 1]} ms; ` +
    `${story.requests.length} requests, sent ${tries.length} times, ${tries.filter((each) => each.status === 503).length} refused with 503, ` +
    `${tries.filter((each) => each.status === null).length} without an answer; ` +
    `${story.readings.length} readers over ${connections} connections`,
);
for (const fault of faults) console.log(`  ${fault}`);
console.log(`faults: ${faults.length}`);
if (faults.length === 0) rmSync(dir, { recursive: true });
else
  console.log(
    `what shows it: ${dir}; again: npm run rolling -- --restarts ${restarts} --seed ${seed}${values.hasty ? ' --hasty' : ''}`,
  );
process.exitCode = faults.length === 0 ? 0 : 1;
