import { parseArgs } from 'node:util';
import { shown } from './aftermath.ts';
import { fuzz } from './fuzz.ts';

// npm run fuzz -- 200000 [--seed 1] [--auth token]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, auth: { type: 'string', default: 'none' } },
});
const requests = Number(positionals[0] ?? 20_000);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const again = `npm run fuzz -- ${requests} --seed ${seed}${values.auth === 'token' ? ' --auth token' : ''}`;
const startedAt = performance.now();
const seconds = () => Math.round((performance.now() - startedAt) / 1000);
const TELL_EVERY = 10_000;
let told = 0;

console.log(again);
const report = await fuzz({
  requests,
  seed,
  auth: values.auth === 'token' ? 'token' : 'none',
  onProgress(sent) {
    if (sent - told < TELL_EVERY) return;
    told = sent;
    console.log(`${sent} requests in ${seconds()} s`);
  },
});
console.table(report.outcomes);
console.log(`The slowest answer took ${Math.round(report.slowestMs)} ms.`);
console.log(`At rest it held ${shown(report.before)} after a quarter, and ${shown(report.after)} after all.`);
for (const { what, request } of report.faults) console.log(`FAULT ${what}\n  ${request}`);
console.log(`${report.requests} requests in ${seconds()} s, ${report.faults.length} faults. Again: ${again}`);
process.exitCode = report.faults.length === 0 ? 0 : 1;
