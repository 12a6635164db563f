/**
 * How large the WAL grows while tasks emit as fast as they are let and readers never rest: streams that begin anew from the
 * first event, pages, and lists. Ends with 1 above 64 MiB. `npm run bench:wal [-- SECONDS READERS]`
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import { startHoldfast } from './support/holdfast.ts';

const [SECONDS = 60, READERS = 12] = process.argv.slice(2).map(Number);
const BOUND_MIB = 64;
const LOOK_MS = 20;
const MIB = 1024 * 1024;
const TEXT = 'x'.repeat(1000);
const EVENTS_A_TASK = 4000;
/** A stream is read so far, and then anew. */
const REPLAY_BYTES = 8 * MIB;

const holdfast = await startHoldfast();
const over = AbortSignal.timeout(SECONDS * 1000);
const sizes: number[] = [];
const watch = setInterval(() => sizes.push(sizeOf('holdfast.db-wal')), LOOK_MS);
let reads = 0;
let tasks = 0;

await Promise.all([
  ...Array.from({ length: 2 }, () => until(over, emit)),
  ...Array.from({ length: READERS }, (_, n) => until(over, [replay, page, list][n % 3] ?? replay)),
]);
clearInterval(watch);
const written = sizeOf('holdfast.db');
await holdfast.stop();

const most = Math.max(...sizes) / MIB;
console.log(
  `WAL: at most ${most.toFixed(1)} MiB in ${SECONDS} s, of ${(written / MIB).toFixed(0)} MiB written by ${tasks} tasks, ` +
    `under ${READERS} readers with ${reads} reads`,
);
process.exitCode = most > BOUND_MIB ? 1 : 0;

async function until(signal: AbortSignal, turn: () => Promise<void>): Promise<void> {
  while (!signal.aborted) await turn();
}

async function emit(): Promise<void> {
  const id = await holdfast.create('firehose', { events: EVENTS_A_TASK, text: TEXT });
  await (await fetch(`${holdfast.url}/v1/tasks/${id}?wait=60`)).text();
  tasks += 1;
}

async function replay(): Promise<void> {
  const stop = new AbortController();
  const { body } = await fetch(`${holdfast.url}/v1/events?after=0`, { signal: AbortSignal.any([stop.signal, over]) });
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) {
      bytes += chunk.length;
      if (bytes > REPLAY_BYTES) break;
    }
  } catch (error) {
    if (!over.aborted) throw error;
  }
  stop.abort();
  reads += 1;
}

async function page(): Promise<void> {
  await get('/v1/events?after=0&limit=1000');
}

async function list(): Promise<void> {
  await get('/v1/tasks?limit=200');
}

async function get(route: string): Promise<void> {
  const response = await fetch(`${holdfast.url}${route}`, { headers: { accept: 'application/json' } });
  if (response.status !== 200) throw new Error(`${route} was answered ${response.status}.`);
  await response.arrayBuffer();
  reads += 1;
}

function sizeOf(name: string): number {
  return statSync(path.join(holdfast.dataDir, name), { throwIfNoEntry: false })?.size ?? 0;
}
