/**
 * Has 500 readers of all paces follow one log, and says whether it holds: `npm run readers -- --minutes 10`. Ends with 1 when
 * it does not.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { readers } from './readers.ts';

const COUNTS = { normal: 200, stalled: 100, slow: 100, flapping: 100 };
const EVERY_MS = 100;
const PAD_BYTES = 4096;
const MAX_P99_MS = 250;
/** What is flat: the allocator and the database keep some pages more, or fewer. */
const MAX_GROWTH_MIB = 32;

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  console.error('--minutes takes a number.');
  process.exit(2);
}

const loadBefore = loadavg()[0] ?? 0;
const figures = await readers({ seconds: minutes * 60, counts: COUNTS, everyMs: EVERY_MS, padBytes: PAD_BYTES });
const { delays, memory, connections } = figures;
const round = (value: number) => value.toFixed(0);
console.log(`${minutes} min, ${figures.events} events; load of the machine: ${loadBefore.toFixed(1)} before`);
console.log(
  `normal readers: ${delays.count} events, p50 ${round(delays.p50Ms)} ms, p99 ${round(delays.p99Ms)} ms, at most ${round(delays.mostMs)} ms`,
);
console.log(`connections: ${JSON.stringify(connections)}`);
console.log(
  `memory: ${round(memory.before.resident)} MiB resident and ${round(memory.before.heap)} of heap after warming up, ` +
    `${round(memory.after.resident)} and ${round(memory.after.heap)} at the end`,
);

const broken = [
  [delays.p99Ms < MAX_P99_MS, `a p99 of ${round(delays.p99Ms)} ms`],
  [figures.wrong.length === 0, `${figures.wrong.length} readers without exactly the log: ${figures.wrong.slice(0, 3)}`],
  [memory.after.resident - memory.before.resident < MAX_GROWTH_MIB, 'resident memory that grows'],
  [memory.after.heap - memory.before.heap < MAX_GROWTH_MIB, 'a heap that grows'],
  [figures.streamsOpen === 0, `${figures.streamsOpen} streams left open`],
].flatMap(([holds, text]) => (holds ? [] : [text]));
console.log(broken.length === 0 ? 'It holds.' : `It does not hold: ${broken.join('; ')}.`);
process.exitCode = broken.length === 0 ? 0 : 1;
