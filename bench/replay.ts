/**
 * Bytes per second of a replay of many events to one reader, beside a bare `node:http` server that sends the same bytes
 * out of memory, alternating. `npm run bench:replay [-- EVENTS]`
 */
import { startBare } from './support/bare.ts';
import { openRaw, startHoldfast } from './support/holdfast.ts';
import { median } from './support/median.ts';

const EVENTS = Number(process.argv[2] ?? 100_000);
const ROUNDS = 3;

const holdfast = await startHoldfast();
const bare = await startBare();
const id = await holdfast.create('firehose', { events: EVENTS, text: 'x'.repeat(80) });
const url = `${holdfast.url}/v1/tasks/${id}/events`;
const text = await read(url);
await bare.serve(text.bytes.toString());
const rates = { holdfast: [] as number[], bare: [] as number[] };
for (let round = 1; round <= ROUNDS; round++) {
  rates.bare.push(rate((await read(`${bare.url}/bytes`)).ms));
  rates.holdfast.push(rate((await read(`${url}?after=0`)).ms));
  console.log(`round ${round}: bare ${rates.bare.at(-1)} events/s, holdfast ${rates.holdfast.at(-1)} events/s`);
}
await Promise.all([holdfast.stop(), bare.stop()]);
console.log(`replay: ${(median(rates.holdfast) / median(rates.bare)).toFixed(2)} of the bare server`);

async function read(from: string): Promise<{ bytes: Buffer; ms: number }> {
  const startedAt = performance.now();
  const chunks: Buffer[] = [];
  for await (const chunk of await openRaw(from)) chunks.push(chunk);
  const ms = performance.now() - startedAt;
  const bytes = Buffer.concat(chunks);
  const events = bytes.toString().split('\ndata: ').length - 1;
  if (events < EVENTS) throw new Error(`Only ${events} of ${EVENTS} events came.`);
  return { bytes, ms };
}

function rate(ms: number): number {
  return Math.round(EVENTS / (ms / 1000));
}
