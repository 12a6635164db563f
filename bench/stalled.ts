/**
 * What others notice while five readers replay a log of 300,000 events again and again and ten sockets take nothing of
 * it: how long `/healthz` takes, when an idle stream's keepalives come, and how much memory the server holds.
 * `npm run bench:stalled [-- EVENTS]`
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { Worker } from 'node:worker_threads';
import { openRaw, startHoldfast } from './support/holdfast.ts';
import { median, percentile } from './support/median.ts';

const EVENTS = Number(process.argv[2] ?? 300_000);
const READERS = 5;
const STALLED = 10;
/** Two keepalives, and a little. */
const LAST_MS = 33_000;
const MEBIBYTE = 1024 * 1024;

const holdfast = await startHoldfast();
const id = await holdfast.create('firehose', { events: EVENTS, text: 'x'.repeat(80) });
const path = `/v1/tasks/${id}/events?after=0`;
await readWhole();
const waiting = await holdfast.create('asker', null);
const idle = await openRaw(`${holdfast.url}/v1/tasks/${waiting}/events`);
const keepalives: number[] = [];
let heardAt = performance.now();
idle.on('data', (chunk: Buffer) => {
  const now = performance.now();
  if (chunk.toString() === ': hb\n') keepalives.push(now - heardAt);
  heardAt = now;
});
const residentBefore = residentBytes();

const until = performance.now() + LAST_MS;
const stalled = await Promise.all(Array.from({ length: STALLED }, openStalled));
let replays = 0;
let residentMost = 0;
const health: number[] = [];
await Promise.all([
  ...Array.from({ length: READERS }, async () => {
    while (performance.now() < until) {
      await readWhole();
      replays += 1;
    }
  }),
  watchHealth(),
]);
for (const socket of stalled) socket.destroy();
idle.destroy();
await holdfast.stop();

console.log(`${replays} replays of ${EVENTS} events in ${LAST_MS / 1000} s, beside ${STALLED} stalled sockets`);
console.log(
  `healthz: p50 ${median(health).toFixed(1)} ms, p99 ${percentile(health, 0.99).toFixed(1)} ms, of ${health.length}`,
);
console.log(`keepalives after ${keepalives.map((ms) => (ms / 1000).toFixed(2)).join(' and ')} s (15 are due)`);
console.log(`memory: at most ${((residentMost - residentBefore) / MEBIBYTE).toFixed(0)} MiB more than before`);

async function readWhole(): Promise<void> {
  let tail = '';
  for await (const chunk of await openRaw(`${holdfast.url}${path}`)) tail = (tail + chunk).slice(-200);
  if (!tail.includes('event: end\n')) throw new Error('A replay broke off.');
}

/** A connection that asks for the log and never reads. One that the server cuts off stays as it is. */
function openStalled(): Promise<net.Socket> {
  const { hostname, port } = new URL(holdfast.url);
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: hostname, port: Number(port) }, () => {
      socket.pause();
      socket.off('error', reject);
      socket.on('error', () => {});
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAccept: text/event-stream\r\n\r\n`, () =>
        resolve(socket),
      );
    });
    socket.on('error', reject);
  });
}

async function watchHealth(): Promise<void> {
  const workerData = { url: holdfast.url, lastMs: LAST_MS, everyMs: 20 };
  const watch = new Worker(new URL('./support/health-watch.mjs', import.meta.url), { workerData });
  const looking = setInterval(() => {
    residentMost = Math.max(residentMost, residentBytes());
  }, 20);
  const [tookMs] = await once(watch, 'message');
  clearInterval(looking);
  health.push(...tookMs);
}

function residentBytes(): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${holdfast.pid}/status`, 'utf8'))?.[1]) * 1024;
}
