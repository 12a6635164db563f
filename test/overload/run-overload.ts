/**
 * Asks a server for three times what it can do, and says whether it holds: `npm run overload -- --seconds 180`. Ends with 1
 * when it does not.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { overload } from './overload.ts';

const MIN_GOODPUT = 0.8;
const MAX_P99_MS = 2000;
const RECOVERY_SECONDS = 10;
const MEASURE_SECONDS = 10;
/** All of them must be in the log. */
const MAX_LOOKUPS = 20_000;

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '180' } } });
const seconds = Number(values.seconds);
if (!(seconds > 0)) {
  console.error('--seconds takes a number.');
  process.exit(2);
}

const loadBefore = loadavg()[0] ?? 0;
const figures = await overload({
  seconds,
  measureSeconds: MEASURE_SECONDS,
  recoverySeconds: RECOVERY_SECONDS,
  maxLookups: MAX_LOOKUPS,
});
const goodput = figures.accepted / figures.capacity;
const { bystander, recovered } = figures;
const where = figures.pinned ? 'generator and server on a core each' : 'without taskset: on whatever cores there are';
const round = (value: number) => value.toFixed(0);
console.log(`${seconds} s, ${where}; load of the machine before: ${loadBefore.toFixed(1)}`);
console.log(`capacity: ${round(figures.capacity)} tasks/s; p99 of a calm server: ${round(figures.calmP99Ms)} ms`);
console.log(`offered: ${round(figures.offered)}/s, accepted ${round(figures.accepted)}/s (${round(goodput * 100)} %)`);
console.log(
  `p99 of the accepted: ${round(figures.acceptedP99Ms)} ms from when they were due, ${round(figures.sinceSentP99Ms)} from when they ` +
    `were sent; the generator was late by ${round(figures.lateP99Ms)}`,
);
console.log(`others by status: ${JSON.stringify(figures.refused)}`);
console.log(
  `beside it: ${bystander.answered} answers, p99 ${round(bystander.answerP99Ms)} ms; pages p99 ${round(bystander.pageP99Ms)} ms; ` +
    `a new connection at most ${round(bystander.newConnectionMs)} ms`,
);
console.log(
  `after it: normal from second ${figures.recoveredAfter ?? 'never'}; then p99 ${round(recovered.p99Ms)} ms, ` +
    `${round(recovered.share * 100)} % accepted`,
);

const broken = [
  [goodput >= MIN_GOODPUT, `goodput of ${round(goodput * 100)} %`],
  [figures.acceptedP99Ms < MAX_P99_MS, 'a p99 of two seconds or more'],
  [figures.lost.length === 0, `${figures.lost.length} acknowledged tasks lost`],
  [figures.withoutRetryAfter === 0, `${figures.withoutRetryAfter} refusals without Retry-After`],
  [
    Object.keys(figures.refused).every((status) => status === '503' || status === '429'),
    'other answers than 503 and 429',
  ],
  [bystander.refused.length === 0, `refused beside it: ${bystander.refused.slice(0, 3)}`],
  [bystander.unfinished === 0, `${bystander.unfinished} answered tasks that did not complete`],
  [bystander.told === bystander.answered, 'a stream that did not tell of every answer'],
  [bystander.sawOverloaded && bystander.sentAway > 0, 'neither /readyz nor a new stream was told of it'],
  [figures.recoveredAfter !== null && figures.recoveredAfter <= RECOVERY_SECONDS, 'not normal again in time'],
].flatMap(([holds, text]) => (holds ? [] : [text]));
console.log(broken.length === 0 ? 'It holds.' : `It does not hold: ${broken.join('; ')}.`);
process.exitCode = broken.length === 0 ? 0 : 1;
