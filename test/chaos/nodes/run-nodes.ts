/**
 * Plays faults of several nodes on one PostgreSQL against clients that come to any of them: `npm run chaos:nodes -- --tasks
 * 5000 --seed 1 --nemesis kill`. Ends with 1 when a rule was broken, and then says how to play it again.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { groupBy } from '../../../src/engine/group-by.ts';
import { seedOf } from '../seed.ts';
import { Totals } from '../totals.ts';
import { NODE_NEMESES } from './node-nemeses.ts';
import { playNodes } from './nodes-round.ts';

const SHOWN_OF_RULE = 3;
/** A task that comes to nothing takes this long. */
const FAULTS_MS_A_TASK = 500;

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '5000' },
    seed: { type: 'string', default: '1' },
    nemesis: { type: 'string', default: 'mixed' },
    /** How long a client waits at most between two new tasks, of three clients. */
    'pause-ms': { type: 'string', default: '200' },
    /** Keeps the directory, whatever came of it. */
    keep: { type: 'boolean', default: false },
  },
});
const [tasks = 0, seed = 0, pauseMs = 0] = [values.tasks, values.seed, values['pause-ms']].map(Number);
const nemesis = NODE_NEMESES[values.nemesis];
if (nemesis === undefined || ![tasks, seed, pauseMs].every(Number.isSafeInteger)) {
  console.error(`Numbers, and as --nemesis one of: ${Object.keys(NODE_NEMESES).join(', ')}.`);
  process.exit(2);
}

// So that the servers go as well.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-chaos-nodes-'));
const begun = performance.now();
const { story, violations, testimony, refused } = await playNodes({
  ...{ seed: seedOf(seed, values.nemesis), nemesis, dir },
  load: { tasks, pauseMs, faultsMs: 60_000 + tasks * FAULTS_MS_A_TASK },
});

const totals = new Totals();
totals.add(story);
const connections = story.readings.reduce((sum, reading) => sum + reading.connections.length, 0);
const tries = story.requests.flatMap((request) => request.tries);
const counts = Object.entries(totals.counts).map(([name, count]) => `${count} ${name}`);
console.log(`${values.nemesis}, ${((performance.now() - begun) / 1000).toFixed(0)} s: ${counts.join(', ')}`);
console.log(
  `${story.requests.length} requests, sent ${tries.length} times, ${tries.filter((each) => each.status === 503).length} refused with 503, ` +
    `${tries.filter((each) => each.status === null).length} without an answer; ` +
    `${story.readings.length} readers over ${connections} connections; ` +
    `${testimony.claims.length} claims, ${testimony.moved} tasks on more than one node, ${refused} writes under an old fence refused`,
);
for (const [rule, own] of groupBy(violations, (violation) => violation.rule)) {
  console.log(`  ${own.length} times broken: ${rule}`);
  for (const { text } of own.slice(0, SHOWN_OF_RULE)) console.log(`    ${text}`);
}
console.log(`violations: ${violations.length}`);
if (violations.length > 0) {
  writeFileSync(path.join(dir, 'violations.json'), JSON.stringify(violations, null, 2));
  writeFileSync(path.join(dir, 'log.jsonl'), story.log.map(({ text }) => `${text}\n`).join(''));
  const options = `--tasks ${tasks} --seed ${seed} --nemesis ${values.nemesis} --pause-ms ${pauseMs}`;
  console.log(`what shows it: ${dir}; again: npm run chaos:nodes -- ${options}`);
} else if (!values.keep) rmSync(dir, { recursive: true });
process.exitCode = violations.length > 0 ? 1 : 0;
