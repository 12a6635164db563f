/**
 * How long an event takes from the agent's `emit` to a client, beside one fsync on the same disk; and how long other
 * requests take while the log is saturated, beside an idle server. `npm run bench:latency`
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openRaw, startHoldfast } from './support/holdfast.ts';
import { median, percentile } from './support/median.ts';

const ROUNDS = 3;
const EVENTS = 300;
const FSYNCS = 200;

const holdfast = await startHoldfast();
const emits: number[] = [];
const fsyncs: number[] = [];
for (let round = 1; round <= ROUNDS; round++) {
  fsyncs.push(median(timeFsyncs()));
  const times = await timeEmits();
  emits.push(median(times));
  console.log(
    `round ${round}: fsync p50 ${fsyncs.at(-1)?.toFixed(2)} ms, emit to client p50 ${emits.at(-1)?.toFixed(2)} ms, p99 ${percentile(times, 0.99).toFixed(2)} ms`,
  );
}
const idle = await timeRequests(Promise.resolve(delay(3000)));
const saturated = await timeRequests(pour());
await holdfast.stop();
console.log(
  `requests: idle p99 ${percentile(idle, 0.99).toFixed(2)} ms, saturated p99 ${percentile(saturated, 0.99).toFixed(2)} ms`,
);
console.log(
  `latency: p50 is ${(median(emits) - median(fsyncs)).toFixed(2)} ms above an fsync, ${(median(emits) / median(fsyncs)).toFixed(2)} times one`,
);

function timeFsyncs(): number[] {
  const file = openSync(path.join(holdfast.dataDir, 'fsync.bench'), 'w');
  const block = Buffer.alloc(4096);
  const times = Array.from({ length: FSYNCS }, () => {
    const startedAt = performance.now();
    writeSync(file, block);
    fdatasyncSync(file);
    return performance.now() - startedAt;
  });
  closeSync(file);
  return times;
}

async function timeEmits(): Promise<number[]> {
  const id = await holdfast.create('ticker', { events: EVENTS, everyMs: 10 });
  const stream = await openRaw(`${holdfast.url}/v1/tasks/${id}/events`);
  const times: number[] = [];
  let rest = '';
  for await (const chunk of stream) {
    const now = Number(process.hrtime.bigint()) / 1e6;
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const sentAt = /"sentAt":([\d.]+)/.exec(block)?.[1];
      if (sentAt !== undefined) times.push(now - Number(sentAt));
    }
  }
  return times;
}

async function pour(): Promise<void> {
  const id = await holdfast.create('firehose', { events: 300_000, text: 'x'.repeat(80) });
  for await (const _ of await openRaw(`${holdfast.url}/v1/tasks/${id}/events`));
}

/** Reads tasks, one request after the other, until `done`. */
async function timeRequests(done: Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  let running = true;
  void done.then(() => {
    running = false;
  });
  while (running) {
    const startedAt = performance.now();
    await (await fetch(`${holdfast.url}/v1/tasks?limit=10`)).text();
    times.push(performance.now() - startedAt);
    await delay(5);
  }
  return times;
}
