/**
 * What ten thousand tasks cost that all wait for people, on two workers: memory for each, how soon a new task starts
 * beside them, how long it takes to wake them all, and how soon the server is ready again after a `kill -9`.
 * `npm run bench:waiting -- 10000`
 */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Holdfast, startHoldfast } from './support/holdfast.ts';
import { median, percentile } from './support/median.ts';

const TASKS = Number(process.argv[2] ?? 10_000);
/** Tasks that wait and end before anything is measured. */
const WARM_UP = 5000;
const AT_ONCE = 50;
/** Longer than the code of a waiting task is kept in memory. */
const SETTLE_MS = 15_000;
const JSON_BODY = { 'content-type': 'application/json' };

let holdfast = await startHoldfast();
// The heaps have their size only once they have been used as they are going to be.
const warming: string[] = [];
await inParallel(WARM_UP, async () => {
  warming.push(await holdfast.create('asker', null));
});
await until(async () => (await countOf(holdfast, 'waiting')) === WARM_UP);
await inParallel(WARM_UP, (n) => answer(holdfast, warming[n] ?? ''));
await until(async () => (await countOf(holdfast, 'completed')) === WARM_UP);
await delay(SETTLE_MS);
const bytesBefore = residentBytes(holdfast.pid);

const startedAt = performance.now();
const ids: string[] = [];
await inParallel(TASKS, async () => {
  ids.push(await holdfast.create('asker', null));
});
await until(async () => (await countOf(holdfast, 'waiting')) === TASKS);
console.log(`${TASKS} tasks wait, ${seconds(startedAt)} s after the first was created`);
await delay(SETTLE_MS);
const perTask = (residentBytes(holdfast.pid) - bytesBefore) / TASKS / 1024;
console.log(`memory: ${perTask.toFixed(2)} KiB a waiting task (resident, the whole process)`);

const starts: number[] = [];
for (let n = 0; n < 100; n++) starts.push(await timeToStart(holdfast));
console.log(
  `a new task has started after p50 ${median(starts).toFixed(1)} ms, p99 ${percentile(starts, 0.99).toFixed(1)} ms`,
);

const killedAt = performance.now();
await holdfast.kill();
holdfast = await startHoldfast({ dataDir: holdfast.dataDir });
console.log(
  `ready ${seconds(killedAt)} s after a kill -9 with all of them waiting; of that the server's own: ${holdfast.startedInMs.toFixed(0)} ms`,
);

const answeredAt = performance.now();
await inParallel(TASKS, (n) => answer(holdfast, ids[n] ?? ''));
console.log(`answered in ${seconds(answeredAt)} s`);
await until(async () => (await countOf(holdfast, 'completed')) === TASKS + WARM_UP + starts.length);
console.log(`all of them have ended ${seconds(answeredAt)} s after the first answer`);
await holdfast.stop();

async function timeToStart({ url, create }: Holdfast): Promise<number> {
  const id = await create('nothing', null);
  const sentAt = performance.now();
  const task = await getJson<{ status: string; createdAt: string; startedAt: string }>(`${url}/v1/tasks/${id}?wait=10`);
  if (task.status !== 'completed') throw new Error(`It is ${task.status} after ${performance.now() - sentAt} ms.`);
  return Date.parse(task.startedAt) - Date.parse(task.createdAt);
}

async function answer({ url }: Holdfast, taskId: string): Promise<void> {
  const { items } = await getJson<{ items: { id: string }[] }>(`${url}/v1/questions?status=pending&taskId=${taskId}`);
  const path = `${url}/v1/questions/${items[0]?.id}/answers`;
  const response = await fetch(path, { method: 'POST', headers: JSON_BODY, body: '{"answer":"yes"}' });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

async function countOf({ url }: Holdfast, status: string): Promise<number> {
  let count = 0;
  for (let page = ''; ; ) {
    const path = `${url}/v1/tasks?status=${status}&limit=200${page === '' ? '' : `&page=${page}`}`;
    const { items, nextPage } = await getJson<{ items: unknown[]; nextPage: string | null }>(path);
    count += items.length;
    if (nextPage === null) return count;
    page = encodeURIComponent(nextPage);
  }
}

async function getJson<T>(url: string): Promise<T> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

async function inParallel(count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < count) await work(next++);
    }),
  );
}

async function until(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await delay(250);
}

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(2);
}
