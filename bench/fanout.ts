/**
 * Deliveries per CPU second of the server, one task's events to many readers, beside a bare `node:http` server that
 * writes each event to each reader, alternating. `npm run bench:fanout [-- READERS PER_SECOND SECONDS]`
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startBare } from './support/bare.ts';
import { cpuSeconds } from './support/cpu-time.ts';
import { startHoldfast } from './support/holdfast.ts';
import { median } from './support/median.ts';
import type { ReadersCommand } from './support/readers.ts';

const [READERS = 1000, PER_SECOND = 100, SECONDS = 8] = process.argv.slice(2).map(Number);
const ROUNDS = 3;
const TEXT = 'x'.repeat(80);
const EVENTS = PER_SECOND * SECONDS;
const everyMs = 1000 / PER_SECOND;

const holdfast = await startHoldfast();
const bare = await startBare();
const results = { holdfast: [] as number[], bare: [] as number[] };
for (let round = 1; round <= ROUNDS; round++) {
  results.bare.push(await ofBare());
  results.holdfast.push(await ofHoldfast());
  console.log(`round ${round}: bare ${results.bare.at(-1)}/CPU s, holdfast ${results.holdfast.at(-1)}/CPU s`);
}
await Promise.all([holdfast.stop(), bare.stop()]);
console.log(
  `fanout: ${(median(results.holdfast) / median(results.bare)).toFixed(2)} times the bare server's deliveries`,
);

async function ofHoldfast(): Promise<number> {
  const id = await holdfast.create('ticker', { events: EVENTS, everyMs, text: TEXT, holdMs: 3000 });
  const readers = startReaders();
  readers.open({ url: `${holdfast.url}/v1/tasks/${id}/events`, count: READERS, mark: '"type":"bench.tick"' });
  await readers.opened;
  return perCpuSecond(holdfast.pid, readers.seen);
}

async function ofBare(): Promise<number> {
  const readers = startReaders();
  readers.open({ url: `${bare.url}/`, count: READERS, mark: '"type":"bench.tick"' });
  await readers.opened;
  const data = JSON.stringify({ seq: 1000, type: 'bench.tick', taskId: 'x'.repeat(31), data: { i: 100, text: TEXT } });
  bare.send({ kind: 'broadcast', text: `id: abcdefgh.1000\ndata: ${data}\n\n`, times: EVENTS, everyMs });
  return perCpuSecond(bare.pid, readers.seen);
}

async function perCpuSecond(pid: number, seen: Promise<number>): Promise<number> {
  const before = cpuSeconds(pid);
  const deliveries = await seen;
  if (deliveries < READERS * EVENTS * 0.99) throw new Error(`Only ${deliveries} of ${READERS * EVENTS} came.`);
  return Math.round(deliveries / (cpuSeconds(pid) - before));
}

function startReaders() {
  const child = fork(new URL('./support/readers.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
  const opened = once(child, 'message');
  const seen = opened
    .then(() => once(child, 'message'))
    .then(([count]) => {
      child.kill();
      return Number(count);
    });
  return { open: (command: ReadersCommand) => child.send(command), opened, seen };
}
